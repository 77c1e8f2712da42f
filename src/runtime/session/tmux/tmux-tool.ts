/**
 * tmux for the sessions' owner: one server for each root, and for each run a session with one pane. A pane's output
 * goes through a pipe to `split`, which numbers the spool files. A hook of the pane records the exit of its program.
 */
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { ProcessStamp } from '../../../files/processes.js';
import { attempt } from '../../../model/plain/attempt.js';
import { STDIN_QUEUE_BYTES } from '../../process/stdin-queue.js';
import type {
  ProgramCall,
  SessionExit,
  SessionRun,
  SessionStart,
  SessionTool,
  ToolPlace,
} from '../session-tool.js';
import { VIEW_ENVIRONMENT } from '../view/session-view.js';
import {
  BEFORE_END,
  killParameters,
  LIST_PARAMETERS,
  pasteParameters,
  pipeParameters,
  STATUS_FILE,
  startCommands,
  viewParameters,
} from './tmux-commands.js';
import { NoServer, TmuxServer } from './tmux-server.js';

/** The names that can stand in tmux's targets and formats, where other characters have a meaning. */
const SAFE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_-]{0,99}$/;
/**
 * The longest time from the death of a pane or a server until the last output is in the spool. After this time the
 * pipe's reader counts as ended too.
 */
const LONGEST_END_MS = 5_000;
/** The most that Linux takes for one string of an environment, and (with the usual stack) for the whole environment. */
const LONGEST_VARIABLE_BYTES = 128 * 1024 - 1;
const LARGEST_ENVIRONMENT_BYTES = 2 * 1024 * 1024 - 64 * 1024;
const SIGNALS: Readonly<Record<string, number>> = constants.signals;

/** The pane that holds a run's program, and its server. */
interface Pane {
  readonly id: string;
  readonly server: ProcessStamp;
}

export class TmuxTool implements SessionTool {
  readonly key = 'tmux';
  readonly beforeEnd = BEFORE_END;
  /** The bound is ours, because tmux takes everything and does not tell how much is unread. */
  readonly mostUnreadBytes = STDIN_QUEUE_BYTES;
  readonly variables = ['TMUX', 'TMUX_PANE', 'TERM', 'TERM_PROGRAM', 'TERM_PROGRAM_VERSION', 'SHELL'];
  readonly #server: TmuxServer;
  readonly #panes = new Map<string, Pane>();
  readonly #starting = new Set<string>();
  /** When each run's end was first seen, in milliseconds of a clock that does not jump. */
  readonly #endings = new Map<string, number>();
  #isListed = false;

  constructor(place: ToolPlace) {
    this.#server = new TmuxServer(place);
  }

  async start(start: SessionStart): Promise<void> {
    const { name } = start;
    if (!SAFE_NAME.test(name)) throw new Error(`tmux cannot name a session "${name}"`);
    refuseLarge(start.environment);
    this.#starting.add(name);
    try {
      this.#take(name, await this.#server.callStarting(['source-file', '-'], startCommands(start)));
    } catch (error) {
      // Remove what tmux made before it failed, so that nothing runs unseen.
      await this.remove(start).catch(() => undefined);
      throw error;
    } finally {
      this.#starting.delete(name);
    }
  }

  async list(): Promise<ReadonlySet<string>> {
    const before = [...this.#panes.keys()];
    const found = new Set<string>();
    for (const line of (await this.#call(LIST_PARAMETERS)).split('\n')) {
      const space = line.indexOf(' ');
      // A pane that an operator opened has no name of ours: skip it.
      if (space > 0 && this.#take(line.slice(0, space), line.slice(space + 1)))
        found.add(line.slice(0, space));
    }
    for (const name of before) if (!found.has(name)) this.#panes.delete(name);
    this.#isListed = true;
    return found;
  }

  isServed(run: SessionRun): boolean {
    const pane = this.#panes.get(run.name);
    if (pane === undefined && !this.#isListed) return true;
    if (this.#starting.has(run.name) || (pane !== undefined && this.#server.isServing(pane.server)))
      return true;
    // The server may end with its last session while that session's last output is on its way. So wait for the
    // output.
    return readText(run, 'died') === undefined && this.#isEnding(run);
  }

  async write(run: SessionRun, bytes: Buffer): Promise<void> {
    const pane = await this.#paneOf(run);
    const said = await this.#server.call(pasteParameters(run.name, pane.id), bytes);
    if (said !== '') throw noSession(run);
  }

  /**
   * Resolves when the earlier input is written: tmux hears a client only after it has written the input of the client
   * before.
   */
  async flush(): Promise<void> {
    await this.#server.call(['display-message', '-p', '']);
  }

  async reopen(run: SessionRun): Promise<void> {
    const { id, server } = await this.#paneOf(run);
    this.#server.remember(server.pid);
    await this.#server.call(pipeParameters(run, id));
  }

  /** Shows the pane, because an operator may have renamed the session. The viewer does not change the size. */
  async view(run: SessionRun): Promise<ProgramCall> {
    const pane = await this.#paneOf(run);
    const { file, parameters, environment } = this.#server.clientCall(viewParameters(pane.id));
    return { file, parameters, environment: { ...environment, ...VIEW_ENVIRONMENT } };
  }

  readDied(run: SessionRun): SessionExit | undefined {
    const died = readText(run, 'died');
    const status = died === undefined || died === '' ? readText(run, STATUS_FILE) : died;
    if (died !== undefined) return readStatus(status ?? '');
    if (status === undefined) this.#wake(run);
    return status === undefined || this.#isEnding(run) ? undefined : readStatus(status);
  }

  async remove(run: SessionRun): Promise<void> {
    const pane = await this.#find(run);
    await this.#end(run, pane);
    const isLast = (): boolean => this.#panes.size === 0 && this.#starting.size === 0;
    if (isLast()) await this.#server.clear(isLast);
  }

  async #end(run: SessionRun, pane: Pane | undefined): Promise<void> {
    this.#panes.delete(run.name);
    this.#endings.delete(run.name);
    // When `died` exists, the hook has already killed the pane.
    if (pane === undefined || readText(run, 'died') !== undefined) return;
    try {
      await this.#call(killParameters(run.name, pane.id));
    } catch (error) {
      if ((await this.list()).has(run.name)) throw error;
    }
  }

  /** Makes tmux look for ended children. It may have missed that the session's shell was killed (see BEFORE_END). */
  #wake({ name }: SessionRun): void {
    const server = this.#panes.get(name)?.server;
    if (server !== undefined && this.#server.isServing(server)) process.kill(server.pid, 'SIGCHLD');
  }

  /** True for some seconds after the first call for a run: the pipe's reader may still have to mark the end. */
  #isEnding({ name }: SessionRun): boolean {
    const now = performance.now();
    const since = this.#endings.get(name) ?? now;
    this.#endings.set(name, since);
    return now - since < LONGEST_END_MS;
  }

  async #find({ name }: SessionRun): Promise<Pane | undefined> {
    if (!this.#panes.has(name)) await this.list();
    return this.#panes.get(name);
  }

  async #paneOf(run: SessionRun): Promise<Pane> {
    const pane = await this.#find(run);
    if (pane === undefined) throw noSession(run);
    return pane;
  }

  /** Notes a pane and its server from tmux's answer `<pane> <server's pid>`. False: that server is gone meanwhile. */
  #take(name: string, said: string): boolean {
    const [, id, pid] = /^(%\d+) (\d+)\s*$/.exec(said) ?? [];
    if (id === undefined) throw new Error(`tmux answered "${said.trim()}"`);
    const server = this.#server.remember(Number(pid));
    if (server !== undefined) this.#panes.set(name, { id, server });
    return server !== undefined;
  }

  #call(parameters: readonly string[]): Promise<string> {
    return this.#server.call(parameters).catch((error: unknown) => {
      if (error instanceof NoServer) return '';
      throw error;
    });
  }
}

function noSession(run: SessionRun): Error {
  return new Error(`there is no tmux session ${run.name}`);
}

function readText(run: SessionRun, name: string): string | undefined {
  return attempt(() => readFileSync(join(run.directory, name), 'latin1'));
}

/**
 * Reads `<code> <signal>`. Only one of the two is present; a signal is a number, or a name without SIG. Both missing:
 * tmux did not know.
 */
function readStatus(text: string): SessionExit {
  const [code = '', signal = ''] = text.trim() === '' ? [] : text.split(' ');
  return {
    code: readNumber(code),
    signal: readNumber(signal) ?? SIGNALS[`SIG${signal.replace(/^SIG/, '')}`] ?? null,
  };
}

function readNumber(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}

function refuseLarge(environment: Readonly<Record<string, string>>): void {
  let total = 0;
  for (const [name, value] of Object.entries(environment)) {
    const bytes = Buffer.byteLength(name) + Buffer.byteLength(value) + 1;
    // Plus the closing NUL and the pointer to the string.
    total += bytes + 9;
    if (bytes > LONGEST_VARIABLE_BYTES)
      throw new Error(
        `the environment variable ${name} is too long: ${bytes} of ${LONGEST_VARIABLE_BYTES} bytes`,
      );
  }
  if (total > LARGEST_ENVIRONMENT_BYTES)
    throw new Error(`the environment is too large: ${total} of ${LARGEST_ENVIRONMENT_BYTES} bytes`);
}
