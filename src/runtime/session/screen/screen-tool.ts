/**
 * GNU screen as the sessions' owner needs it: one server with one window for each run, started in the run's
 * directory, where screen logs everything that the window shows. Commands reach screen in files that it reads
 * itself, so nothing of an instance ever stands in a command line of ours.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { replaceFileSync } from '../../../files/replace-file-sync.js';
import type { TerminalSize } from '../../../model/run/attachment.js';
import { findProgram } from '../find-program.js';
import type {
  SessionExit,
  SessionRun,
  SessionStart,
  SessionTool,
  SpoolEnd,
  ToolPlace,
  ViewCall,
} from '../session-tool.js';
import { spoolName } from '../spool.js';
import { VIEW_ENVIRONMENT } from '../view/session-view.js';
import { isAlive, type ScreenServer, ScreenServers } from './screen-server.js';
import { pasteCommands, splitClosingWords } from './screen-words.js';

/**
 * Output is written as it comes (flush 0). A window whose program is dead stays until it is removed (zombie), so
 * that nothing of its end is lost. Neither an operator's terminal that hangs (defnonblock) nor a message on it
 * (msgwait) may hold up the program: screen reads no output while it shows one.
 */
const SETTINGS = `deflog on
logfile ${spoolName(0)}
logfile flush 0
zombie qr
startup_message off
vbell off
defscrollback 2000
autodetach on
deflogin off
defnonblock 1
msgwait 0
msgminwait 0
`;
/** What screen passes on to a program in one turn. */
const TURN_BYTES = 4096;
/** Shorter than a daemon's wait for the owner. */
const ANSWER_TIMEOUT_MS = 5000;
const PATIENCE_MS = 2000;
const LOOK_MS = 20;

export class ScreenTool implements SessionTool {
  readonly key = 'screen';
  readonly variables: readonly string[] =
    'TERM TERMCAP STY WINDOW SCREENDIR SYSSCREENRC SHELL COLUMNS LINES'.split(' ');
  /** screen drops what is too much. */
  readonly mostUnreadBytes = Number.POSITIVE_INFINITY;
  readonly #place: ToolPlace;
  readonly #servers: ScreenServers;
  readonly #listeners: ((name: string) => void)[] = [];
  #hasSettings = false;

  constructor(place: ToolPlace) {
    this.#place = place;
    this.#servers = new ScreenServers(place.socketDirectory);
  }

  onGone(listener: (name: string) => void): void {
    this.#listeners.push(listener);
  }

  async start(start: SessionStart): Promise<void> {
    const { name } = start;
    const server = this.#spawn(start);
    await once(server, 'spawn');
    if (server.pid !== undefined) this.#servers.add(start, server.pid);
    server.once('exit', () => {
      for (const listener of this.#listeners) listener(name);
    });
    server.unref();
  }

  async list(): Promise<ReadonlySet<string>> {
    return this.#servers.names();
  }

  isServed(run: SessionRun): boolean {
    return this.#servers.find(run) !== undefined;
  }

  /**
   * The next paste replaces the rest of this one. Where the program reads, there is no rest: screen answers in a
   * turn of its own, and passes on what it holds before it listens again. screen cannot tell when a program does
   * not read.
   */
  async write(run: SessionRun, bytes: Buffer): Promise<void> {
    const file = this.#writeCommands(run, 'stdin', pasteCommands(bytes));
    try {
      await this.#call(run, ['-X', 'source', file]);
      await this.#untilPassed(run, bytes.length);
    } finally {
      rmSync(join(run.directory, file), { force: true });
    }
  }

  /**
   * Waits until the given bytes are taken. A program that ends by them takes its session along, which then does not
   * answer.
   */
  async #untilPassed(run: SessionRun, bytes: number): Promise<void> {
    try {
      for (let passed = 0; passed < bytes; passed += TURN_BYTES) await this.flush(run);
    } catch {
      // Waiting is all that is done here.
    }
  }

  async flush(run: SessionRun): Promise<void> {
    const server = this.#servers.find(run);
    try {
      // An empty answer: screen shows any other one to an operator who is attached.
      await this.#call(run, ['-Q', 'echo', '']);
    } finally {
      // A caller whose server ends before it answers leaves the socket for the answer.
      if (server !== undefined) this.#servers.clear(run, server);
    }
  }

  async view(run: SessionRun): Promise<ViewCall> {
    const server = await this.#reach(run);
    const environment = { ...this.#environment(), ...VIEW_ENVIRONMENT };
    return {
      file: this.#program(),
      parameters: ['-x', `${server.pid}.${run.name}`, '-p', '0'],
      environment,
    };
  }

  async resize(run: SessionRun, { columns, rows }: TerminalSize): Promise<void> {
    await this.#call(run, ['-X', 'width', '-w', `${columns}`, `${rows}`]);
  }

  async rotate(run: SessionRun, next: number): Promise<void> {
    // screen runs a whole file in one turn: no output comes between the two.
    const file = this.#writeCommands(run, 'rotate', `logfile ${spoolName(next)}\nlog off\nlog on\n`);
    await this.#call(run, ['-X', 'source', file]);
  }

  readEnd(bytes: Buffer): SpoolEnd {
    return splitClosingWords(bytes);
  }

  readDied(): SessionExit | undefined {
    return undefined;
  }

  async remove(run: SessionRun): Promise<void> {
    const server = this.#servers.find(run);
    // It takes its socket along. An unread command is not worth waiting for: the program is dead.
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (server === undefined || !isAlive(server)) break;
      process.kill(server.pid, signal);
      const giveUpAt = performance.now() + PATIENCE_MS;
      while (isAlive(server) && performance.now() < giveUpAt) await pause(LOOK_MS);
    }
    this.#servers.forget(run);
  }

  #spawn(start: SessionStart): ChildProcess {
    const { name, directory, file, parameters, environment } = start;
    const settings = join(this.#place.directory, 'screen.conf');
    // An earlier version may have left other ones.
    if (!this.#hasSettings || !existsSync(settings)) replaceFileSync(settings, SETTINGS);
    this.#hasSettings = true;
    const said = openSync(join(directory, 'screen.log'), 'a', 0o600);
    try {
      return spawn(
        this.#program(),
        ['-c', settings, '-D', '-m', '-S', name, '-s', '/bin/sh', '--', file, ...parameters],
        {
          detached: true,
          cwd: directory,
          // The system's own settings may turn off what we rely on.
          env: { ...environment, SCREENDIR: this.#place.socketDirectory, SYSSCREENRC: '/dev/null' },
          stdio: ['ignore', said, said],
        },
      );
    } finally {
      closeSync(said);
    }
  }

  #writeCommands({ directory }: SessionRun, kind: string, commands: string): string {
    const file = `screen.${kind}`;
    writeFileSync(join(directory, file), commands, { mode: 0o600 });
    return file;
  }

  /** Names the server by its pid: a name alone means all sessions whose names begin with it. */
  async #call(run: SessionRun, words: readonly string[]): Promise<void> {
    const { name, directory } = run;
    const server = await this.#reach(run);
    try {
      await promisify(execFile)(this.#program(), ['-S', `${server.pid}.${name}`, '-p', '0', ...words], {
        cwd: directory,
        env: this.#environment(),
        timeout: ANSWER_TIMEOUT_MS,
      });
    } catch (error) {
      throw new Error(`screen ${words[0]} failed for session ${name}: ${wordsOf(error)}`, { cause: error });
    }
  }

  async #reach(run: SessionRun): Promise<ScreenServer> {
    const server = this.#servers.find(run);
    if (server === undefined) throw new Error(`there is no screen session ${run.name}`);
    await this.#callBack(this.#servers.socketOf(run, server), server.pid);
    return server;
  }

  #environment(): Record<string, string> {
    return { SCREENDIR: this.#place.socketDirectory, PATH: this.#place.path };
  }

  /** Has a server restore its socket, which somebody removed (a cleaner of temporary files). */
  async #callBack(socket: string, pid: number): Promise<void> {
    if (existsSync(socket)) return;
    mkdirSync(this.#place.socketDirectory, { recursive: true, mode: 0o700 });
    process.kill(pid, 'SIGCHLD');
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!existsSync(socket) && performance.now() < giveUpAt) await pause(LOOK_MS);
  }

  #program(): string {
    const found = findProgram('screen', this.#place.path);
    if (found === undefined) throw new Error('screen is not installed on this node; install it');
    return found;
  }
}

/** What a client printed says more than how it ended. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = 'stdout' in error && typeof error.stdout === 'string' ? error.stdout.trim() : '';
  return said === '' ? error.message : said;
}
