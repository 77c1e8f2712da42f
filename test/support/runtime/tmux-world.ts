/**
 * A private directory for one tmux server and its runs. A test makes as many tools on it as it needs, one for each
 * session owner. The end kills the server and everything that ran in it.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readProcess } from '../../../src/files/processes.js';
import { READY_BYTE } from '../../../src/runtime/process/shell-prelude.js';
import { withoutReturns } from '../../../src/runtime/session/output-pump.js';
import { RunDirectory } from '../../../src/runtime/session/run-directory.js';
import { endMark, findEnd, sessionCall } from '../../../src/runtime/session/session-prelude.js';
import type { SessionExit, SessionStart, SpoolEnd } from '../../../src/runtime/session/session-tool.js';
import { tmuxSocket } from '../../../src/runtime/session/tmux/tmux-server.js';
import { TmuxTool } from '../../../src/runtime/session/tmux/tmux-tool.js';
import { until } from '../until.js';
import { kill } from './process-world.js';
import { TOOL_PATH } from './session-world.js';

const NONCE = '0123456789abcdef';

export class TmuxWorld {
  readonly root: string;
  readonly sessions: string;
  readonly sockets: string;
  readonly tool: TmuxTool;

  /** `name` becomes a part of all paths. */
  constructor(name = '', parent = tmpdir()) {
    this.root = mkdtempSync(join(parent, `drover-tmux-${name}`));
    this.sessions = join(this.root, 'sessions');
    this.sockets = join(this.root, 'sockets');
    for (const directory of [this.sessions, this.sockets]) mkdirSync(directory, { mode: 0o700 });
    this.tool = this.newTool();
  }

  /** The tool as the next session owner makes it. */
  newTool(): TmuxTool {
    return new TmuxTool({ directory: this.sessions, socketDirectory: this.sockets, path: TOOL_PATH });
  }

  /** A run of `script`, as the session owner starts it, in a directory of its own. */
  run(instanceId: string, script: string, environment: Readonly<Record<string, string>> = {}): SessionStart {
    const directory = join(this.sessions, `${instanceId}.1`);
    mkdirSync(directory, { mode: 0o700 });
    const call = sessionCall({
      command: script,
      environment: { PATH: TOOL_PATH, ...environment },
      workingDirectory: this.root,
      controlGroups: [],
      directory,
      nonce: NONCE,
      variables: this.tool.variables,
      beforeEnd: this.tool.beforeEnd,
    });
    return { name: `${instanceId}-1`, directory, workingDirectory: this.root, ...call };
  }

  /** The output of the program so far, and its end. */
  read({ directory }: SessionStart): SpoolEnd & { readonly output: Buffer } {
    const names = readdirSync(directory).filter((name) => name.startsWith('spool.'));
    const bytes = Buffer.concat(names.sort().map((name) => readFileSync(join(directory, name))));
    const begun = bytes.subarray(bytes.indexOf(READY_BYTE) + 1);
    const end = findEnd(begun, Buffer.from(endMark(NONCE)));
    return { ...end, output: withoutReturns(begun.subarray(0, end.outputBytes)) };
  }

  untilOutput(run: SessionStart, text: string): Promise<void> {
    return until(() => {
      if (!this.read(run).output.includes(text)) throw new Error(`not there: ${text}`);
    });
  }

  /** Resolves when a run's program and its session have ended, with the exit and the whole output. */
  untilDied(run: SessionStart): Promise<SessionExit & { readonly output: string }> {
    return until(() => {
      const { exit, output } = this.read(run);
      if (exit === undefined || this.tool.readDied(run) === undefined) throw new Error(`${run.name} goes on`);
      return { ...exit, output: output.toString() };
    });
  }

  /** The pids of a run's program and its shell. */
  pids(run: SessionStart): { readonly program: number; readonly shell: number } {
    const found = new RunDirectory(this.sessions, { instanceId: run.name.slice(0, -2), run: 1 }).processes;
    if (found === undefined) throw new Error(`${run.name} has not begun`);
    return { program: found.program.pid, shell: found.shell.pid };
  }

  serverPid(): number {
    return Number(readFileSync(join(this.sessions, 'tmux.server'), 'utf8').split(' ')[0]);
  }

  /** A tmux client on the world's server, as an operator calls it. */
  tmux(...parameters: string[]): string {
    return execFileSync('tmux', ['-S', tmuxSocket(this.sockets), ...parameters], {
      env: { PATH: TOOL_PATH, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async close(): Promise<void> {
    const runs = RunDirectory.all(this.sessions).flatMap(({ processes }) => Object.values(processes ?? {}));
    const pids = [...runs.map(({ pid }) => pid), ...this.#server()];
    for (const pid of pids) kill(pid);
    await until(() => {
      for (const pid of pids)
        if (readProcess(pid)?.isZombie === false) throw new Error(`${pid} is still there`);
    });
    // The readers of the pipes end a moment after the server.
    await until(() => rmSync(this.root, { recursive: true, force: true }));
  }

  #server(): number[] {
    try {
      return [this.serverPid()];
    } catch {
      return [];
    }
  }
}
