/**
 * A root's own tmux server, reached through tmux clients. It is started when a session needs it and ends with its last
 * session. It restores its socket when told to, and is known by pid and start time. The user's own servers have other
 * sockets and are never contacted.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  isRunning,
  notedProcess,
  noteProcess,
  type ProcessStamp,
  readProcess,
} from '../../../files/processes.js';
import { shared } from '../../../loop/remembered.js';
import { requireProgram } from '../find-program.js';
import type { ProgramCall, ToolPlace } from '../session-tool.js';
import { SERVER_SETTINGS } from './tmux-commands.js';

const ANSWER_TIMEOUT_MS = 10_000;
const LONGEST_ANSWER_BYTES = 16 * 1024 * 1024;
const LOOK_HOLDS_MS = 10;
/** How many times to look whether a server restored its socket or ended, which takes milliseconds; a second in all. */
const LOOKS = 50;
const LOOK_MS = 20;
/** The messages of a client when no server answered, or when the server left before it ran the command. */
const NO_SERVER = /^(no server running|error connecting to|server exited|lost server)/m;
/** tmux refuses to run when the locale is not UTF-8. */
const LOCALE = { LC_ALL: 'C.UTF-8' };

interface Look {
  readonly server: ProcessStamp;
  readonly at: number;
  readonly isServing: boolean;
}

/** Thrown when no server answers; the sessions of an earlier server are gone with it. */
export class NoServer extends Error {}

/** The path of the socket on which the root's server listens. */
export function tmuxSocket(socketDirectory: string): string {
  return join(socketDirectory, 'tmux-server');
}

export class TmuxServer {
  readonly #place: ToolPlace;
  readonly #socket: string;
  readonly #starting = shared(() => this.#start());
  /** Calls go one at a time: a socket that is restored twice loses the client that waits at the first socket. */
  readonly #calledBack = shared(() => this.#callBack());
  #remembered: ProcessStamp | undefined;
  #look: Look | undefined;

  constructor(place: ToolPlace) {
    this.#place = place;
    this.#socket = tmuxSocket(place.socketDirectory);
  }

  /** A client of this server, to be started on a terminal. Throws when tmux is not installed. */
  clientCall(parameters: readonly string[]): ProgramCall {
    return {
      file: requireProgram('tmux', this.#place.path),
      parameters: ['-S', this.#socket, ...parameters],
      environment: LOCALE,
    };
  }

  /** Runs a tmux client and returns its output. Throws NoServer, or an Error with tmux's message. */
  async call(parameters: readonly string[], input?: Buffer | string): Promise<string> {
    try {
      return await this.#run(parameters, input);
    } catch (error) {
      if (!(error instanceof NoServer) || !(await this.#calledBack())) throw error;
      return this.#run(parameters, input);
    }
  }

  /** Like `call`, but starts the server when none answers. */
  async callStarting(parameters: readonly string[], input?: Buffer | string): Promise<string> {
    try {
      return await this.call(parameters, input);
    } catch (error) {
      if (!(error instanceof NoServer)) throw error;
      await this.#starting();
      return this.#run(parameters, input);
    }
  }

  /**
   * Remembers the server with this pid, so that it is found again without its socket. Undefined: the server is gone.
   */
  remember(pid: number): ProcessStamp | undefined {
    const server = readProcess(pid);
    if (server === undefined || server.isZombie) return undefined;
    const identity = { pid, startTime: server.startTime };
    const known = this.#remembered;
    if (known?.pid !== pid || known.startTime !== server.startTime || !existsSync(this.#file()))
      noteProcess(this.#file(), identity);
    this.#remembered = identity;
    return identity;
  }

  /** Removes the socket that tmux leaves behind, when the server has ended and `isLast` still holds. */
  async clear(isLast: () => boolean): Promise<void> {
    const known = this.#remembered ?? notedProcess(this.#file());
    for (let look = 0; look < LOOKS && known !== undefined && this.isServing(known); look++)
      await pause(LOOK_MS);
    const isGone = known === undefined || !this.isServing(known);
    if (isGone && isLast()) rmSync(this.#socket, { force: true });
  }

  /**
   * True while the server lives. Reads /proc once for all calls within some milliseconds, because hundreds of sessions
   * ask.
   */
  isServing(server: ProcessStamp): boolean {
    const now = performance.now();
    const { pid, startTime } = server;
    if (this.#look?.server.pid === pid && this.#look.server.startTime === startTime)
      if (now - this.#look.at < LOOK_HOLDS_MS) return this.#look.isServing;
    const isServing = isRunning(server);
    this.#look = { server, at: now, isServing };
    return isServing;
  }

  /**
   * Starts the server. Its PATH serves the programs that read output. Its HOME serves relative paths, so that no path
   * has to be written in tmux's language.
   */
  async #start(): Promise<void> {
    const settings = join(this.#place.directory, 'tmux.conf');
    writeFileSync(settings, SERVER_SETTINGS, { mode: 0o600 });
    const environment = { ...LOCALE, PATH: this.#place.path, HOME: this.#place.directory };
    const said = await this.#run(
      ['-f', settings, 'start-server', ';', 'display-message', '-p', '#{pid}'],
      undefined,
      environment,
    );
    this.remember(Number(said));
  }

  /** Has the server restore its socket. True: the server lives and answers. */
  async #callBack(): Promise<boolean> {
    const known = this.#remembered ?? notedProcess(this.#file());
    if (known === undefined || !this.isServing(known)) return false;
    mkdirSync(this.#place.socketDirectory, { recursive: true, mode: 0o700 });
    process.kill(known.pid, 'SIGUSR1');
    for (let look = 0; look < LOOKS && this.isServing(known); look++) {
      await pause(LOOK_MS);
      const isServing = this.#run(['display-message', '-p', '#{pid}']).then(() => true);
      if (await isServing.catch(() => false)) return true;
    }
    return false;
  }

  /** Runs a client in an environment without PATH: a client's PATH would replace the PATH of the session. */
  #run(
    parameters: readonly string[],
    input?: Buffer | string,
    env: NodeJS.ProcessEnv = LOCALE,
  ): Promise<string> {
    return new Promise((resolve, reject) => {
      const program = requireProgram('tmux', this.#place.path);
      const options = { env, cwd: '/', timeout: ANSWER_TIMEOUT_MS, maxBuffer: LONGEST_ANSWER_BYTES };
      const client = execFile(
        program,
        ['-S', this.#socket, ...parameters],
        options,
        (error, stdout, stderr) =>
          error === null && stderr === '' ? resolve(stdout) : reject(failure(stderr, error?.killed === true)),
      );
      // The client may end before it reads all input; its exit gives the reason.
      client.stdin?.on('error', () => undefined).end(input);
    });
  }

  #file(): string {
    return join(this.#place.directory, 'tmux.server');
  }
}

function failure(stderr: string, isLate: boolean): Error {
  if (isLate) return new Error(`tmux did not answer within ${ANSWER_TIMEOUT_MS / 1000} s`);
  const said = stderr.trim();
  if (NO_SERVER.test(said)) return new NoServer(said);
  return new Error(`tmux: ${said === '' ? 'failed without a message' : said}`);
}
