/**
 * A second node under test: the executable as a wrapper without a master, on its own root, joined to a master by a
 * token.
 */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { DaemonProcess } from '../daemon/daemon-process.js';
import { RootProcesses } from '../daemon/root-processes.js';
import { REPOSITORY } from '../repository-root.js';

const PROGRAM = join(REPOSITORY, 'dist/main.js');

/** Runs the executable; resolves with its standard output. Throws with its message when it fails. */
export async function drover(...words: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [PROGRAM, ...words]);
  return stdout;
}

export class Member {
  readonly paths: RootPaths;
  readonly processes: RootProcesses;
  #daemon: DaemonProcess | undefined;

  private constructor(paths: RootPaths) {
    this.paths = paths;
    this.processes = new RootProcesses(paths.rootId);
  }

  /** Makes a member with an empty root. */
  static async create(): Promise<Member> {
    return new Member(await prepareRoot(mkdtempSync(join(tmpdir(), 'drover-member-'))));
  }

  get daemon(): DaemonProcess {
    if (this.#daemon === undefined) throw new Error('the member was not started');
    return this.#daemon;
  }

  /** The output of the daemon that was started last. */
  get output(): string {
    return this.#daemon === undefined ? 'not started' : this.#daemon.stdout + this.#daemon.stderr;
  }

  /** Writes its config.json as `drover join` does. */
  join(token: string, master: string, nodeId: string): Promise<string> {
    return drover('join', token, '--master', master, '--root', this.paths.root, '--node-id', nodeId);
  }

  /** Starts the node. `parameters`: further parameters of `start`. */
  start(parameters: readonly string[] = []): void {
    this.#daemon = new DaemonProcess({ root: this.paths.root, parameters });
  }

  /** Ends everything and removes the root. */
  async finish(): Promise<void> {
    if (this.#daemon?.isRunning === true) await this.#daemon.end('SIGKILL');
    await this.processes.killAll();
    rmSync(this.paths.root, { recursive: true, force: true });
  }
}
