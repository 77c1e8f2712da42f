/**
 * Gives bytes to a session's program exactly as they are, on a terminal on which people type too. The terminal edits
 * lines, echoes them and turns keys into signals. For what Drover sends, it passes on every byte as it is until the
 * program has read it:
 *
 * ```
 * lines --- a half-typed line is taken away ---> literal --- all was read, or waits in the terminal ---> lines
 * ```
 */
import { setTimeout as pause } from 'node:timers/promises';
import { InputFull, type SessionRun, type SessionTool } from '../session-tool.js';
import type { SessionTerminal } from './session-terminal.js';

/** Takes away what is typed of a line (Ctrl-U). */
const KILL_LINE = Buffer.from([0x15]);
/** A terminal keeps so much that nobody has read. What is in it stays as it came. */
const TERMINAL_BYTES = 4095;
/** The time of a reading program for what it was given: in all about a second. */
const PATIENCE_MS = [5, 10, 20, 40, 80, 160, 320, 400];
const FIRST_LOOK_MS = 2000;
const LONGEST_LOOK_MS = 60_000;

/** What is asked of the session's terminal. */
export type InputTerminal = Pick<SessionTerminal, 'mode' | 'setLiteral' | 'isUnread'>;

export interface LiteralInputOptions {
  readonly tool: Pick<SessionTool, 'write' | 'flush' | 'mostUnreadBytes'>;
  readonly run: SessionRun;
  /** Undefined: the session has none yet. */
  readonly terminal: () => InputTerminal | undefined;
}

export class LiteralInput {
  readonly #options: LiteralInputOptions;
  #isLiteral = false;
  /** Bytes that were sent since the program was last seen to have read everything. */
  #sentBytes = 0;
  #returning: Promise<void> | undefined;
  #waiting = new AbortController();
  #nextLookAt = 0;
  #lookMs = FIRST_LOOK_MS;

  constructor(options: LiteralInputOptions) {
    this.#options = options;
  }

  /** One call at a time. Throws InputFull, and what `SessionTool.write` throws. */
  async send(bytes: Buffer): Promise<void> {
    const { tool, run } = this.#options;
    this.#waiting.abort();
    await this.#returning;
    const terminal = this.#options.terminal();
    if (terminal === undefined) return tool.write(run, bytes);
    await this.#refuseTooMuch(terminal, bytes.length);
    const isShared = await this.#becomeLiteral(terminal);
    this.#sentBytes += bytes.length;
    try {
      await tool.write(run, bytes);
    } finally {
      this.#lookMs = FIRST_LOOK_MS;
      if (isShared) this.#return(terminal, PATIENCE_MS);
    }
  }

  /**
   * Gives what somebody types to the terminal, which edits lines, echoes and interrupts as its program wants. One call
   * at a time, and none beside `send`. Throws like `send`.
   */
  async type(bytes: Buffer): Promise<void> {
    const { tool, run } = this.#options;
    await this.#returning;
    const terminal = this.#options.terminal();
    if (terminal !== undefined) await this.#refuseTooMuch(terminal, bytes.length);
    this.#sentBytes += bytes.length;
    await tool.write(run, bytes);
  }

  /** Called every 2 s. Gives the terminal back to people once a program that reads late has read. */
  look(): void {
    const terminal = this.#isLiteral ? this.#options.terminal() : undefined;
    const now = performance.now();
    if (terminal === undefined || this.#returning !== undefined || now < this.#nextLookAt) return;
    this.#nextLookAt = now + this.#lookMs;
    this.#lookMs = Math.min(2 * this.#lookMs, LONGEST_LOOK_MS);
    this.#return(terminal, []);
  }

  /** Gives a terminal back that an earlier owner left in literal mode. Resolves when the terminal was asked. */
  async takeUp(): Promise<void> {
    const terminal = this.#options.terminal();
    if (this.#isLiteral || terminal === undefined || (await terminal.mode()) !== 'literal') return;
    this.#isLiteral = true;
    // Nobody knows how much waits there.
    this.#sentBytes = TERMINAL_BYTES + 1;
    this.#return(terminal, PATIENCE_MS);
  }

  /** Throws InputFull when the tool holds much, and the program does not read it. */
  async #refuseTooMuch(terminal: InputTerminal, bytes: number): Promise<void> {
    if (this.#sentBytes + bytes <= this.#options.tool.mostUnreadBytes) return;
    if (!(await this.#isRead(terminal, PATIENCE_MS, new AbortController().signal))) throw new InputFull();
    this.#sentBytes = 0;
  }

  /** False where the program rules its terminal itself. */
  async #becomeLiteral(terminal: InputTerminal): Promise<boolean> {
    if (this.#isLiteral) return true;
    const mode = await terminal.mode();
    if (mode === 'own') return false;
    if (mode === 'lines') {
      await this.#options.tool.write(this.#options.run, KILL_LINE);
      // What people typed before and the program has read does not wait any more.
      if ((await this.#arrive(terminal)) && (await this.#arrive(terminal))) this.#sentBytes = 0;
      await terminal.setLiteral(true);
    }
    this.#isLiteral = true;
    return true;
  }

  #return(terminal: InputTerminal, patience: readonly number[]): void {
    this.#waiting = new AbortController();
    this.#returning = this.#becomeLines(terminal, patience, this.#waiting.signal).finally(() => {
      this.#returning = undefined;
    });
  }

  async #becomeLines(
    terminal: InputTerminal,
    patience: readonly number[],
    signal: AbortSignal,
  ): Promise<void> {
    const isRead = await this.#isRead(terminal, patience, signal);
    if (signal.aborted || (!isRead && this.#sentBytes > TERMINAL_BYTES)) return;
    await terminal.setLiteral(false);
    this.#isLiteral = false;
    if (isRead) this.#sentBytes = 0;
  }

  /** True when the program has read everything. Looks again after each wait of `patience`, until `signal` aborts. */
  async #isRead(terminal: InputTerminal, patience: readonly number[], signal: AbortSignal): Promise<boolean> {
    for (const waitMs of [...patience, undefined]) {
      // Twice: what the tool kept for want of space came when the program had read the rest.
      if ((await this.#arrive(terminal)) && (await this.#arrive(terminal))) return true;
      if (waitMs !== undefined) await pause(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return false;
    }
    return false;
  }

  /** Resolves when what was sent is in the terminal, as far as it has space. True: the program has read it. */
  async #arrive(terminal: InputTerminal): Promise<boolean> {
    // A program that ends by what it reads takes its session along.
    await this.#options.tool.flush(this.#options.run).catch(() => undefined);
    return !(await terminal.isUnread());
  }
}
