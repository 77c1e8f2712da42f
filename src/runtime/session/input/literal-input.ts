/**
 * Gives bytes to a session's program exactly as they are, on a terminal on which people type too. The terminal edits
 * lines, echoes them and turns keys into signals. For bytes from Drover it is made literal, and passes on every byte as
 * it is until the program has read them:
 *
 * ```
 * lines --- a half-typed line is taken away ---> literal --- all was read, or waits in the terminal ---> lines
 * ```
 */
import { setTimeout as pause } from 'node:timers/promises';
import { InputFull, type SessionRun, type SessionTool } from '../session-tool.js';
import type { SessionTerminal } from './session-terminal.js';

/** Deletes the half-typed line (Ctrl-U). */
const KILL_LINE = Buffer.from([0x15]);
/** How many unread bytes a terminal keeps. They stay as they came. */
const TERMINAL_BYTES = 4095;
/** The pauses between looks whether the program has read its input; about a second in all. */
const PATIENCE_MS = [5, 10, 20, 40, 80, 160, 320, 400];
const FIRST_LOOK_MS = 2000;
const LONGEST_LOOK_MS = 60_000;
const UNANSWERED = 'the terminal did not answer in time: nothing was written';

/** The operations on the session's terminal that are needed here. */
export type InputTerminal = Pick<SessionTerminal, 'mode' | 'setLiteral' | 'isUnread'>;

interface LiteralInputOptions {
  readonly tool: Pick<SessionTool, 'write' | 'flush' | 'isServed' | 'mostUnreadBytes'>;
  readonly run: SessionRun;
  /** The session's terminal; undefined: it has none yet. */
  readonly terminal: () => InputTerminal | undefined;
}

export class LiteralInput {
  readonly #options: LiteralInputOptions;
  #isLiteral = false;
  /** True: literal for more bytes than the terminal holds. */
  #isLong = false;
  /** How many bytes were sent since the program was last seen to have read everything. */
  #sentBytes = 0;
  #returning: Promise<void> | undefined;
  #waiting = new AbortController();
  #nextLookAt = 0;
  #lookMs = FIRST_LOOK_MS;

  constructor(options: LiteralInputOptions) {
    this.#options = options;
  }

  /** Sends bytes unchanged. Only one call at a time. Throws InputFull, and the errors of `SessionTool.write`. */
  async send(bytes: Buffer): Promise<void> {
    const { tool, run } = this.#options;
    this.#waiting.abort();
    await this.#returning;
    const terminal = this.#options.terminal();
    if (terminal === undefined) return tool.write(run, bytes);
    await this.#refuseTooMuch(terminal, bytes.length);
    const isShared = await this.#becomeLiteral(terminal, bytes.length);
    this.#sentBytes += bytes.length;
    try {
      await tool.write(run, bytes);
    } finally {
      this.#lookMs = FIRST_LOOK_MS;
      if (isShared) this.#return(terminal, PATIENCE_MS);
    }
  }

  /**
   * Passes typed bytes to the terminal, which edits lines, echoes and interrupts as its program wants. Only one call
   * at a time, and none during a `send`. Throws like `send`.
   */
  async type(bytes: Buffer): Promise<void> {
    const { tool, run } = this.#options;
    await this.#returning;
    const terminal = this.#options.terminal();
    if (terminal !== undefined) await this.#refuseTooMuch(terminal, bytes.length);
    this.#sentBytes += bytes.length;
    await tool.write(run, bytes);
  }

  /** Called every 2 s. Gives the terminal back to people when a slow program has read its input at last. */
  look(): void {
    const terminal = this.#isLiteral ? this.#options.terminal() : undefined;
    const now = performance.now();
    if (terminal === undefined || this.#returning !== undefined || now < this.#nextLookAt) return;
    this.#nextLookAt = now + this.#lookMs;
    this.#lookMs = Math.min(2 * this.#lookMs, LONGEST_LOOK_MS);
    this.#return(terminal, []);
  }

  /** Gives the terminal back when an earlier owner left it in literal mode. Resolves when its mode is known. */
  async takeUp(): Promise<void> {
    const terminal = this.#options.terminal();
    if (this.#isLiteral || terminal === undefined || (await terminal.mode()) !== 'literal') return;
    this.#isLiteral = true;
    // Nobody knows how many bytes wait in the terminal: assume more than it keeps.
    this.#sentBytes = TERMINAL_BYTES + 1;
    this.#return(terminal, PATIENCE_MS);
  }

  /** Throws InputFull when the tool holds much input that the program does not read. */
  async #refuseTooMuch(terminal: InputTerminal, bytes: number): Promise<void> {
    if (this.#sentBytes + bytes <= this.#options.tool.mostUnreadBytes) return;
    if (!(await this.#isRead(terminal, PATIENCE_MS, new AbortController().signal))) throw new InputFull();
    this.#sentBytes = 0;
  }

  /** Puts the terminal into literal mode. False: the program rules its terminal itself. */
  async #becomeLiteral(terminal: InputTerminal, bytes: number): Promise<boolean> {
    const mode = this.#isLiteral ? 'literal' : await terminal.mode();
    // Bytes that a terminal edits and echoes would not be those that were sent.
    if (mode === 'unknown') throw new Error(UNANSWERED);
    if (mode === 'own') return false;
    if (mode === 'lines') {
      await this.#options.tool.write(this.#options.run, KILL_LINE);
      // Input that the program has read no longer counts as unread.
      if (await this.#arrive(terminal)) this.#sentBytes = 0;
    }
    const isLong = this.#isLong || this.#sentBytes + bytes > TERMINAL_BYTES;
    if (mode === 'lines' || isLong !== this.#isLong)
      if (!(await terminal.setLiteral(true, isLong))) throw new Error(UNANSWERED);
    this.#isLiteral = true;
    this.#isLong = isLong;
    return true;
  }

  #return(terminal: InputTerminal, patience: readonly number[]): void {
    this.#waiting = new AbortController();
    this.#returning = this.#giveBack(terminal, patience, this.#waiting.signal).finally(() => {
      this.#returning = undefined;
    });
  }

  async #giveBack(terminal: InputTerminal, patience: readonly number[], signal: AbortSignal): Promise<void> {
    const isRead = await this.#isRead(terminal, patience, signal);
    if (signal.aborted || (!isRead && this.#sentBytes > TERMINAL_BYTES)) return;
    if (!(await terminal.setLiteral(false, this.#isLong))) return;
    this.#isLiteral = false;
    this.#isLong = false;
    if (isRead) this.#sentBytes = 0;
  }

  /** True when the program has read everything. Looks again after each pause of `patience`, until `signal` aborts. */
  async #isRead(terminal: InputTerminal, patience: readonly number[], signal: AbortSignal): Promise<boolean> {
    for (const waitMs of [...patience, undefined]) {
      if (await this.#arrive(terminal)) return true;
      if (waitMs !== undefined) await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return false;
    }
    return false;
  }

  /**
   * Resolves when the sent bytes are in the terminal, as far as it has space. True: the program has read them. The tool
   * may have kept all of them for lack of space, and passes on a part at each look, which a program reads at once.
   */
  async #arrive(terminal: InputTerminal): Promise<boolean> {
    const { tool, run } = this.#options;
    // A program that ends on its input ends its session too. Otherwise a tool without an answer may hold bytes still.
    for (let left = 1 + Math.max(1, Math.ceil(this.#sentBytes / TERMINAL_BYTES)); left > 0; left--) {
      const isLate = await tool.flush(run).catch(() => tool.isServed(run));
      if (isLate === true || (await terminal.isUnread())) return false;
    }
    return true;
  }
}
