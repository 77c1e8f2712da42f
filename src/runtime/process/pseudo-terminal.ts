/**
 * One pseudo-terminal with the process that leads it. Reports output as it comes, and the exit as soon as waitpid
 * has it, after all output before it. Knows nothing of instances or logs.
 */
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import type { SocketConstructorOpts, TcpSocketConnectOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { readProcess } from '../../files/processes.js';
import { attempt } from '../../model/plain/attempt.js';
import { publicMessage } from '../../model/public-message.js';
import type { TerminalSize } from '../../model/run/attachment.js';
import type { ForkedPty, NativePty } from './native-pty.js';
import { isInheritable } from './native-pty.js';
import { OrderFile } from './order-file.js';
import { type OrderOptions, orderText, READY_BYTE, type ShellCall } from './shell-prelude.js';
import { StdinQueue } from './stdin-queue.js';

/** The size of a terminal without viewers, so wide that programs which ask for the width do not wrap their lines. */
const SIZE: TerminalSize = { columns: 512, rows: 50 };
/**
 * The most bytes read at an exit: more than the kernel buffers. The bound ends the read when surviving processes of the
 * run keep writing.
 */
const LAST_OUTPUT_BYTES = 1024 * 1024;

interface TerminalOptions {
  readonly native: NativePty;
  /** Makes the call of the shell. `order`: path of the file through which the shell gets its order. */
  readonly shell: (order: string) => ShellCall;
  /** Scratch memory for reads, shared by all terminals. `onOutput` must not keep it after it returns. */
  readonly buffer: Buffer;
}

/** The run that a terminal serves. */
interface TerminalRun {
  readonly order: OrderOptions;
  readonly onOutput: (bytes: Uint8Array) => void;
  /** Called at most once, when the shell has its order and becomes the command. */
  readonly onReady: () => void;
  /** `signal` is 0 for a normal exit. Never called before `run` has returned. */
  readonly onExit: (code: number, signal: number) => void;
}

type ReadOptions = SocketConstructorOpts & Pick<TcpSocketConnectOpts, 'onread'>;

/**
 * ```
 *  fork --ready byte--> waiting --order--> ordered --ready byte--> running --> ended
 *    | run()                                  ^
 *    +-- the order is kept --ready byte-------+
 * ```
 */
export class PseudoTerminal {
  readonly pid: number;
  /** 0: the process ended before its start time could be read. */
  readonly startTime: number;
  readonly #options: TerminalOptions;
  readonly #master: number;
  readonly #isInheritable: boolean;
  readonly #slave: number;
  readonly #stream: ReadStream;
  readonly #stdin: StdinQueue;
  readonly #order: OrderFile;
  #run: TerminalRun | undefined;
  #isTransparent = false;
  #isReady = false;
  #isClosed = false;
  #hasEnded = false;

  /** Starts a shell that waits for its order. Throws an Error that says what the system refused. */
  static open(options: TerminalOptions): PseudoTerminal {
    const order = new OrderFile();
    try {
      let terminal: PseudoTerminal | undefined;
      const forked = fork(options, order, (code, signal) => {
        if (terminal !== undefined) terminal.#onProcessExit(code, signal);
      });
      terminal = attach(forked, () => new PseudoTerminal(options, order, forked));
      return terminal;
    } catch (error) {
      order.close();
      throw error;
    }
  }

  private constructor(options: TerminalOptions, order: OrderFile, forked: ForkedPty) {
    this.pid = forked.pid;
    this.startTime = readProcess(forked.pid)?.startTime ?? 0;
    this.#options = options;
    this.#order = order;
    this.#master = forked.fd;
    this.#isInheritable = isInheritable(forked.fd);
    // Keep the slave side open. A program that redirects all its output would leave no other holder, and the hang-up
    // would end it. The kernel would also drop what a program wrote just before its exit.
    this.#slave = openSync(forked.pty, constants.O_RDWR | constants.O_NOCTTY);
    try {
      this.#stdin = new StdinQueue(forked.fd);
      this.#stream = this.#read();
    } catch (error) {
      closeSync(this.#slave);
      throw error;
    }
  }

  /** True while the shell lives and has no order yet. */
  get isFree(): boolean {
    return this.#run === undefined && this.startTime !== 0 && !this.#hasEnded && !this.#isClosed;
  }

  /**
   * Makes the shell become the command of a run. Called once. When the order cannot be written the run ends, and its
   * log says why.
   */
  run(run: TerminalRun): void {
    this.#run = run;
    if (this.#isTransparent) this.#giveOrder(run);
  }

  /** The master's descriptor while new processes would inherit it; undefined otherwise. */
  get inheritable(): number | undefined {
    return this.#isClosed || !this.#isInheritable ? undefined : this.#master;
  }

  /** Queues bytes for standard input; false when the queue is full. */
  write(bytes: Buffer): boolean {
    return this.#stdin.push(bytes);
  }

  /** Sets the size; the default is the wide size of a terminal without viewers. */
  resize({ columns, rows }: TerminalSize = SIZE): void {
    if (this.#isClosed || this.#hasEnded) return;
    // The terminal may be hung up meanwhile.
    attempt(() => this.#options.native.resize(this.#master, columns, rows));
  }

  /** Hangs the terminal up. Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#order.close();
    this.#stdin.close();
    this.#stream.destroy();
    closeSync(this.#slave);
  }

  /** Reads the last output first, so that whoever hears of the exit finds the log complete. */
  #onProcessExit(code: number, signal: number): void {
    this.#hasEnded = true;
    this.#order.close();
    if (this.#run === undefined) this.close();
    if (!this.#isClosed) {
      this.#stdin.close();
      this.#drain();
    }
    this.#run?.onExit(code, signal);
  }

  #read(): ReadStream {
    const take = (length: number, bytes: Uint8Array): boolean => {
      this.#take(bytes.subarray(0, length));
      return true;
    };
    const options: ReadOptions = { onread: { buffer: this.#options.buffer, callback: take } };
    const stream = new ReadStream(this.#master, options);
    // EIO: the terminal was hung up. The exit itself comes from waitpid.
    stream.on('error', () => this.close());
    stream.resume();
    return stream;
  }

  #drain(): void {
    const { buffer } = this.#options;
    for (let total = 0; total < LAST_OUTPUT_BYTES && !this.#stream.destroyed; ) {
      const read = attempt(() => readSync(this.#master, buffer), 0);
      if (read === 0) return;
      total += read;
      this.#take(buffer.subarray(0, read));
    }
  }

  /**
   * Passes on output, and counts the shell's two ready bytes. Output before a ready byte is a complaint of the shell;
   * after the second, all output is the program's.
   */
  #take(bytes: Uint8Array): void {
    if (this.#isReady) {
      this.#run?.onOutput(bytes);
      return;
    }
    const at = bytes.indexOf(READY_BYTE);
    this.#passOn(at < 0 ? bytes : bytes.subarray(0, at));
    if (at < 0) return;
    if (this.#isTransparent) {
      this.#takeReady();
      this.#passOn(bytes.subarray(at + 1));
      return;
    }
    this.#isTransparent = true;
    this.#order.forgetName();
    if (this.#run !== undefined) this.#giveOrder(this.#run);
  }

  #passOn(bytes: Uint8Array): void {
    if (bytes.length > 0) this.#run?.onOutput(bytes);
  }

  #takeReady(): void {
    this.#isReady = true;
    this.#order.close();
    this.#run?.onReady();
    this.#stdin.open();
  }

  #giveOrder({ order, onOutput }: TerminalRun): void {
    try {
      this.#order.write(orderText(order));
    } catch (error) {
      onOutput(Buffer.from(`drover: the shell could not be given its command: ${publicMessage(error)}\n`));
      this.close();
      return;
    }
    // The terminal may be hung up: then the exit is on its way.
    attempt(() => writeSync(this.#master, '\n'));
  }
}

function fork(
  { native, shell }: TerminalOptions,
  order: OrderFile,
  onExit: (code: number, signal: number) => void,
): ForkedPty {
  try {
    return native.fork({ ...shell(order.path), environment: [], workingDirectory: '/', ...SIZE, onExit });
  } catch (error) {
    throw new Error(`cannot fork: ${reasonFor(error)}`, { cause: error });
  }
}

/**
 * Explains a failed fork, for which node-pty gives no reason: opens as many descriptors again, which tells whether
 * descriptors or terminals ran out.
 */
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

/** Builds the terminal of a forked process. When that fails it kills the process, which nobody would watch. */
function attach(forked: ForkedPty, build: () => PseudoTerminal): PseudoTerminal {
  try {
    return build();
  } catch (error) {
    process.kill(-forked.pid, 'SIGKILL');
    closeSync(forked.fd);
    throw error;
  }
}
