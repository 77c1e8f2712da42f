/**
 * One pseudo-terminal with the process that leads it. Reports output as it comes, and the exit as soon as waitpid
 * has it, after all output before it. Knows nothing of instances or logs.
 */
import { closeSync, constants, openSync, readSync } from 'node:fs';
import type { SocketConstructorOpts, TcpSocketConnectOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { isInheritable } from './inheritable.js';
import type { ForkedPty, NativePty } from './native-pty.js';
import { READY_BYTE, type ShellCall } from './shell-prelude.js';
import { StdinQueue } from './stdin-queue.js';

/** So wide that programs which ask for the width do not wrap their lines. */
const COLUMNS = 512;
const ROWS = 50;
/** The most bytes read at an exit: more than the kernel buffers, less than remains of the run may write meanwhile. */
const LAST_OUTPUT_BYTES = 1024 * 1024;

export interface TerminalOptions {
  readonly native: NativePty;
  readonly shell: ShellCall;
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Scratch memory for reads, shared by all terminals: `onOutput` must be done with it when it returns. */
  readonly buffer: Buffer;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** The shell has made the terminal transparent and becomes the command. Called at most once. */
  readonly onReady: () => void;
  /** `signal` is 0 for a normal exit. Never called before `start` has returned. */
  readonly onExit: (code: number, signal: number) => void;
}

type ReadOptions = SocketConstructorOpts & Pick<TcpSocketConnectOpts, 'onread'>;

export class PseudoTerminal {
  readonly pid: number;
  readonly #options: TerminalOptions;
  readonly #master: number;
  readonly #isInheritable: boolean;
  readonly #slave: number;
  readonly #stream: ReadStream;
  readonly #stdin: StdinQueue;
  #isReady = false;
  #isClosed = false;

  /** Starts the process. Throws an Error that says what the system refused. */
  static start(options: TerminalOptions): PseudoTerminal {
    let terminal: PseudoTerminal | undefined;
    const forked = fork(options, (code, signal) => {
      if (terminal !== undefined) terminal.#onProcessExit(code, signal);
    });
    terminal = attach(forked, () => new PseudoTerminal(options, forked));
    return terminal;
  }

  private constructor(options: TerminalOptions, forked: ForkedPty) {
    this.pid = forked.pid;
    this.#options = options;
    this.#master = forked.fd;
    this.#isInheritable = isInheritable(forked.fd);
    // Held open: a program that redirects all its output leaves no other holder, and the terminal would hang up
    // and end it; and what a program wrote just before its exit would be thrown away by the kernel.
    this.#slave = openSync(forked.pty, constants.O_RDWR | constants.O_NOCTTY);
    try {
      this.#stdin = new StdinQueue(forked.fd);
      this.#stream = this.#read();
    } catch (error) {
      closeSync(this.#slave);
      throw error;
    }
  }

  /** The master's descriptor, while it is open and other new processes would inherit it. */
  get inheritable(): number | undefined {
    return this.#isClosed || !this.#isInheritable ? undefined : this.#master;
  }

  /** Queues bytes for standard input; false when the queue is full. */
  write(bytes: Buffer): boolean {
    return this.#stdin.push(bytes);
  }

  /** Hangs up. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#stdin.close();
    this.#stream.destroy();
    closeSync(this.#slave);
  }

  /** Reads the last output first, so that a reader who hears of the exit finds the log complete. */
  #onProcessExit(code: number, signal: number): void {
    if (!this.#isClosed) {
      this.#stdin.close();
      this.#drain();
    }
    this.#options.onExit(code, signal);
  }

  #read(): ReadStream {
    const take = (length: number, bytes: Uint8Array): boolean => {
      this.#take(bytes.subarray(0, length));
      return true;
    };
    const options: ReadOptions = { onread: { buffer: this.#options.buffer, callback: take } };
    const stream = new ReadStream(this.#master, options);
    // EIO: hung up. waitpid reports the process, not its terminal.
    stream.on('error', () => this.close());
    stream.resume();
    return stream;
  }

  #drain(): void {
    const { buffer } = this.#options;
    for (let total = 0; total < LAST_OUTPUT_BYTES && !this.#stream.destroyed; ) {
      let read: number;
      try {
        read = readSync(this.#master, buffer);
      } catch {
        return;
      }
      if (read === 0) return;
      total += read;
      this.#take(buffer.subarray(0, read));
    }
  }

  #take(bytes: Uint8Array): void {
    let output = bytes;
    if (!this.#isReady) {
      this.#isReady = true;
      this.#options.onReady();
      if (bytes[0] === READY_BYTE) output = bytes.subarray(1);
      this.#stdin.open();
    }
    if (output.length > 0) this.#options.onOutput(output);
  }
}

function fork(options: TerminalOptions, onExit: (code: number, signal: number) => void): ForkedPty {
  try {
    return options.native.fork({
      ...options.shell,
      environment: Object.entries(options.environment).map(([name, value]) => `${name}=${value}`),
      workingDirectory: options.workingDirectory,
      columns: COLUMNS,
      rows: ROWS,
      onExit,
    });
  } catch (error) {
    throw new Error(`cannot fork: ${reasonFor(error)}`, { cause: error });
  }
}

/** Finds out what node-pty does not say: opening as much again tells whether descriptors or terminals ran out. */
function reasonFor(error: unknown): string {
  const opened: number[] = [];
  try {
    for (const path of ['/dev/ptmx', '/dev/null', '/dev/null'])
      opened.push(openSync(path, constants.O_RDWR | constants.O_NOCTTY));
  } catch (again) {
    return `no terminal to be had (${again instanceof Error ? again.message : again})`;
  } finally {
    for (const fd of opened) closeSync(fd);
  }
  const said = error instanceof Error ? error.message : String(error);
  return `${said} (too many processes, or out of memory)`;
}

/** Ends a process whose terminal cannot be served: it would run unreported. */
function attach(forked: ForkedPty, build: () => PseudoTerminal): PseudoTerminal {
  try {
    return build();
  } catch (error) {
    process.kill(-forked.pid, 'SIGKILL');
    closeSync(forked.fd);
    throw error;
  }
}
