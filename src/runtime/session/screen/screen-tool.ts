/**
 * GNU screen for the sessions' owner: for each run a server with one window, started in the run's directory, where
 * screen logs all output of the window. Commands reach screen in files that it reads itself, so that nothing of an
 * instance ever stands in a command line of ours.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { isRunning, type ProcessStamp } from '../../../files/processes.js';
import { replaceFileSync } from '../../../files/replace-file-sync.js';
import type { TerminalSize } from '../../../model/run/attachment.js';
import { requireProgram } from '../find-program.js';
import type {
  ProgramCall,
  SessionRun,
  SessionStart,
  SessionTool,
  SpoolEnd,
  ToolPlace,
} from '../session-tool.js';
import { spoolName } from '../spool.js';
import { VIEW_ENVIRONMENT } from '../view/session-view.js';
import { ScreenServers } from './screen-server.js';

/**
 * The settings. Output is written as it comes (flush 0). The window of a dead program stays until it is removed
 * (zombie), so that its last output is not lost. Neither a hanging terminal of an operator (defnonblock) nor a message
 * on it (msgwait) may hold up the program: screen reads no output while it shows a message.
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
/** How many bytes screen passes on to a program in one turn. */
const TURN_BYTES = 4096;
/** How long screen may take to answer: shorter than a daemon waits for the owner. */
const ANSWER_TIMEOUT_MS = 5000;
const PATIENCE_MS = 2000;
const LOOK_MS = 20;

export class ScreenTool implements SessionTool {
  readonly key = 'screen';
  readonly variables: readonly string[] =
    'TERM TERMCAP STY WINDOW SCREENDIR SYSSCREENRC SHELL COLUMNS LINES'.split(' ');
  /** No bound is needed, because screen drops excess input itself. */
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
   * Pastes the bytes, and waits until screen has passed on all of them: the next paste would replace bytes that are
   * not passed on yet. screen answers a call only after it has passed on a part. It cannot tell when a program does
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
   * Waits until screen has passed the bytes on. A program that ends on these bytes ends its session too, and screen
   * then gives no answer.
   */
  async #untilPassed(run: SessionRun, bytes: number): Promise<void> {
    try {
      for (let passed = 0; passed < bytes; passed += TURN_BYTES) await this.flush(run);
    } catch {
      // This method only waits; a session that is gone is no failure.
    }
  }

  async flush(run: SessionRun): Promise<void> {
    const server = this.#servers.find(run);
    try {
      // Send the empty text, because screen would show any other text to an attached operator.
      await this.#call(run, ['-Q', 'echo', '']);
    } finally {
      // When the server ends before it answers, the socket for the answer stays behind. Remove that socket.
      if (server !== undefined) this.#servers.clear(run, server);
    }
  }

  async view(run: SessionRun): Promise<ProgramCall> {
    const server = await this.#reach(run);
    const environment = { ...this.#environment(), ...VIEW_ENVIRONMENT };
    return {
      file: requireProgram('screen', this.#place.path),
      parameters: ['-x', `${server.pid}.${run.name}`, '-p', '0'],
      environment,
    };
  }

  async resize(run: SessionRun, { columns, rows }: TerminalSize): Promise<void> {
    await this.#call(run, ['-X', 'width', '-w', `${columns}`, `${rows}`]);
  }

  async rotate(run: SessionRun, next: number): Promise<void> {
    // screen runs a whole file in one turn, so that no output comes between the two commands.
    const file = this.#writeCommands(run, 'rotate', `logfile ${spoolName(next)}\nlog off\nlog on\n`);
    await this.#call(run, ['-X', 'source', file]);
  }

  async reopen(run: SessionRun): Promise<void> {
    const server = await this.#reach(run);
    this.#servers.add(run, server.pid);
    // The server's own directory is the removed one.
    await this.#call(run, ['-X', 'chdir', run.directory]);
    await this.rotate(run, 0);
  }

  readonly readEnd = splitClosingWords;

  async remove(run: SessionRun): Promise<void> {
    const server = this.#servers.find(run);
    // The server removes its socket when it ends. Unread commands do not matter, because the program is dead.
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (server === undefined || !isRunning(server)) break;
      process.kill(server.pid, signal);
      const giveUpAt = performance.now() + PATIENCE_MS;
      while (isRunning(server) && performance.now() < giveUpAt) await pause(LOOK_MS);
    }
    this.#servers.forget(run);
  }

  #spawn(start: SessionStart): ChildProcess {
    const { name, directory, file, parameters, environment } = start;
    const settings = join(this.#place.directory, 'screen.conf');
    // Write the settings again at the first start: an earlier owner may have been of another version.
    if (!this.#hasSettings || !existsSync(settings)) replaceFileSync(settings, SETTINGS);
    this.#hasSettings = true;
    const said = openSync(join(directory, 'screen.log'), 'a', 0o600);
    try {
      return spawn(
        requireProgram('screen', this.#place.path),
        ['-c', settings, '-D', '-m', '-S', name, '-s', '/bin/sh', '--', file, ...parameters],
        {
          detached: true,
          cwd: directory,
          // Ignore the system's settings, which may turn off what Drover relies on.
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

  /** Names the server by its pid, because a name alone means all sessions whose names begin with it. */
  async #call(run: SessionRun, words: readonly string[]): Promise<void> {
    const { name, directory } = run;
    const server = await this.#reach(run);
    try {
      await promisify(execFile)(
        requireProgram('screen', this.#place.path),
        ['-S', `${server.pid}.${name}`, '-p', '0', ...words],
        { cwd: directory, env: this.#environment(), timeout: ANSWER_TIMEOUT_MS },
      );
    } catch (error) {
      throw new Error(`screen ${words[0]} failed for session ${name}: ${wordsOf(error)}`, { cause: error });
    }
  }

  async #reach(run: SessionRun): Promise<ProcessStamp> {
    const server = this.#servers.find(run);
    if (server === undefined) throw new Error(`there is no screen session ${run.name}`);
    await this.#callBack(this.#servers.socketOf(run, server), server.pid);
    return server;
  }

  #environment(): Record<string, string> {
    return { SCREENDIR: this.#place.socketDirectory, PATH: this.#place.path };
  }

  /** Makes a server restore its socket when somebody removed it (a cleaner of temporary files). */
  async #callBack(socket: string, pid: number): Promise<void> {
    if (existsSync(socket)) return;
    mkdirSync(this.#place.socketDirectory, { recursive: true, mode: 0o700 });
    process.kill(pid, 'SIGCHLD');
    const giveUpAt = performance.now() + PATIENCE_MS;
    while (!existsSync(socket) && performance.now() < giveUpAt) await pause(LOOK_MS);
  }
}

/** The client's own words, which say more than its exit; the error's message when it printed nothing. */
function wordsOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const said = 'stdout' in error && typeof error.stdout === 'string' ? error.stdout.trim() : '';
  return said === '' ? error.message : said;
}

/** The most bytes per register: screen reads at most 2 KB of a line, and each byte takes four characters. */
const BYTES_PER_REGISTER = 400;
/** Registers have names of one character. The names of the copy buffer (a dot) and the empty register are left out. */
const LAST_REGISTER = 0o376;
const COPY_BUFFER = 0o056;
const EMPTY_REGISTER = octal(0o377);

const OPENING = Buffer.from('\n\r=== Command ');
const CLOSING =
  /^\n\r=== Command (?:terminated (?:with exit status (\d+)|with signal (\d+)(?: \(core file generated\))?|normally)|detached from window) \([^()\n]{1,40}\) ===\s*$/;
const LONGEST_CLOSING_BYTES = 160;

/**
 * The commands that paste up to 64 KiB into the window unchanged, each byte written as its octal number. They use
 * `paste`, because `stuff` loops for ever once the program has not read 4 KB.
 *
 * The empty register makes screen paste a copy. A single register would be pasted from the very memory that the next
 * input replaces.
 */
function pasteCommands(bytes: Buffer): string {
  let commands = `register ${EMPTY_REGISTER} ""\n`;
  let names = '';
  let register = 1;
  for (let at = 0; at < bytes.length; at += BYTES_PER_REGISTER) {
    const content = [...bytes.subarray(at, at + BYTES_PER_REGISTER)].map(octal).join('');
    commands += `register ${octal(register)} "${content}"\n`;
    names += octal(register++);
    if (register === COPY_BUFFER) register++;
    if (register > LAST_REGISTER) throw new RangeError(`${bytes.length} bytes are too many for one paste`);
  }
  return `${commands}paste "${names}${EMPTY_REGISTER}"\n`;
}

/** Splits screen's closing words, or bytes that may begin them, off the end of `bytes`. */
export function splitClosingWords(bytes: Buffer): SpoolEnd {
  const from = Math.max(0, bytes.length - LONGEST_CLOSING_BYTES);
  const found = bytes.lastIndexOf(OPENING);
  const at = found >= from ? found : partialOpening(bytes);
  if (at < 0) return { outputBytes: bytes.length, exit: undefined };
  const words = CLOSING.exec(bytes.toString('latin1', at));
  if (words === null) return { outputBytes: at, exit: undefined };
  const [, code, signal] = words;
  // Neither code nor signal: screen saw the terminal close before the program's end, and does not say how it ended.
  return { outputBytes: at, exit: { code: numberOr(code), signal: numberOr(signal) } };
}

/** The index at which the last bytes may begin the opening words; -1: nowhere. */
function partialOpening(bytes: Buffer): number {
  for (let length = Math.min(OPENING.length - 1, bytes.length); length > 0; length--)
    if (bytes.subarray(bytes.length - length).equals(OPENING.subarray(0, length)))
      return bytes.length - length;
  return -1;
}

function numberOr(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits);
}

function octal(byte: number): string {
  return `\\${byte.toString(8).padStart(3, '0')}`;
}
