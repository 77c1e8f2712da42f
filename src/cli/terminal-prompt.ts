/**
 * The prompt of a node that was started from a terminal: commands with history and completion. Log lines appear above
 * the line that is being typed. This file does not know what the commands do.
 */
import { readFileSync } from 'node:fs';
import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { isatty, type ReadStream, type WriteStream } from 'node:tty';
import type { CommandSession } from '../api/http/command-runner.js';
import { attempt } from '../model/plain/attempt.js';
import { durationText } from '../model/plain/duration-text.js';
import { InterruptGuard, SECOND_PRESS_MS } from './interrupt-guard.js';

const PROMPT = 'drover> ';
const HISTORY = 200;
/** The most commands that wait. A longer queue was pasted by mistake. */
const MAX_WAITING = 100;
const STAYING =
  'Drover goes on. "stop" ends Drover and leaves the instances running; Ctrl-C twice ends both; "help" shows all commands.\n';

/** The commands of the running node, and the effect of Ctrl-C on it. */
interface PromptNode {
  readonly commands: {
    run(line: string, session: CommandSession & { readonly access: null }): Promise<unknown>;
    complete(line: string): Promise<[string[], string]>;
  };
  /** Describes what SIGINT does to this node, for the sentence `Ctrl-C again within 5 s ...`. */
  readonly describeInterrupt: () => string;
}

export class TerminalPrompt {
  readonly isTTY = true;
  readonly #input: ReadStream;
  readonly #output: WriteStream;
  readonly #stopping = new AbortController();
  readonly #waiting: string[] = [];
  readonly #interrupts = new InterruptGuard(() => performance.now());
  #node: PromptNode | undefined;
  #history: string[] = [];
  #readline: Interface | undefined;
  #isRunning = false;

  constructor(input: ReadStream, output: WriteStream) {
    this.#input = input;
    this.#output = output;
    // A terminal that went away (EPIPE, EIO) must not end the daemon.
    input.on('error', ignore);
    output.on('error', ignore);
  }

  /** Prints whole lines, above a visible prompt. Works before `start` and after `stop`, too. */
  write(text: string): void {
    const readline = this.#readline;
    if (readline === undefined) {
      this.#output.write(text);
      return;
    }
    const rows = this.#clear(readline);
    this.#output.write(text.endsWith('\n') ? text : `${text}\n`);
    // Move the cursor down as many rows as the prompt had: readline moves up by that number before it draws.
    this.#output.write('\n'.repeat(rows));
    readline.prompt(true);
  }

  /** Shows the prompt. */
  start(node: PromptNode): void {
    if (this.#stopping.signal.aborted) return;
    this.#node = node;
    this.#open();
  }

  /** Removes the prompt; keys have their usual meaning again. Idempotent. */
  stop(): void {
    this.#stopping.abort();
    this.#close();
    this.#input.unref();
  }

  #open(): void {
    const readline = createInterface({
      input: this.#input,
      output: this.#output,
      prompt: PROMPT,
      history: this.#history,
      historySize: HISTORY,
      removeHistoryDuplicates: true,
      completer: (line: string, done: (error: null, found: [string[], string]) => void) =>
        void this.#node?.commands.complete(line).then((found) => done(null, found)),
    });
    this.#readline = readline;
    readline.on('history', (history) => {
      this.#history = history;
    });
    readline.on('line', (line) => this.#take(line));
    // In raw mode Ctrl-C and Ctrl-Z send no signals, so the prompt sends them.
    readline.on('SIGINT', () => this.#interrupt(readline));
    readline.on('SIGTSTP', () => this.#suspend());
    readline.on('close', () => this.#closed(readline));
    readline.prompt();
  }

  #close(): void {
    const readline = this.#readline;
    if (readline === undefined) return;
    this.#readline = undefined;
    this.#clear(readline);
    readline.close();
  }

  /** Opens the prompt again after Ctrl-D, which closes readline. When the terminal is gone, the prompt stays closed. */
  #closed(readline: Interface): void {
    if (this.#readline !== readline) return;
    this.#close();
    if (this.#input.readableEnded || this.#input.destroyed) return;
    this.write(STAYING);
    this.#open();
  }

  #interrupt(readline: Interface): void {
    switch (this.#interrupts.press({ isLineEmpty: readline.line === '' })) {
      case 'clear':
        readline.write(null, { ctrl: true, name: 'e' });
        readline.write(null, { ctrl: true, name: 'u' });
        return;
      case 'ask':
        this.write(
          `Ctrl-C again within ${durationText(SECOND_PRESS_MS)} ${this.#node?.describeInterrupt()}.\n`,
        );
        return;
      case 'end':
        process.kill(process.pid, 'SIGINT');
    }
  }

  #take(line: string): void {
    this.#interrupts.reset();
    const typed = line.trim();
    if (typed === 'exit' || typed === 'quit') this.write(STAYING);
    else if (typed !== '' && this.#waiting.length < MAX_WAITING) this.#waiting.push(typed);
    else if (typed !== '')
      this.write(`error: refused, ${MAX_WAITING} commands are waiting already: ${typed}\n`);
    this.#readline?.prompt();
    if (!this.#isRunning) void this.#runAll();
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    for (let line = this.#waiting.shift(); line !== undefined; line = this.#waiting.shift())
      await this.#node?.commands.run(line, {
        access: null,
        address: null,
        signal: this.#stopping.signal,
        // Some terminals report a width of 0.
        columns: this.#output.columns || undefined,
        write: (text) => this.write(text),
      });
    this.#isRunning = false;
  }

  /**
   * Stops the whole process group, with npm and its shell: otherwise the shell in the terminal would not notice the
   * stop.
   */
  #suspend(): void {
    this.#close();
    process.once('SIGCONT', () => {
      if (!this.#stopping.signal.aborted && isForeground()) this.#open();
    });
    process.kill(0, 'SIGTSTP');
  }

  /** Removes prompt and typed text from the screen. Returns how many rows above the cursor they began. */
  #clear(readline: Interface): number {
    const { rows } = readline.getCursorPos();
    moveCursor(this.#output, 0, -rows);
    cursorTo(this.#output, 0);
    clearScreenDown(this.#output);
    return rows;
  }
}

/** True when a person can type commands: this process may read from the terminal and write to it. `term` is $TERM. */
export function canPrompt(term: string | undefined): boolean {
  return isatty(0) && isatty(1) && term !== 'dumb' && isForeground();
}

/** False for a job in the background: the system would stop the process at its first read from the terminal. */
function isForeground(): boolean {
  return attempt(() => {
    // The line is `pid (name) state ppid pgrp session tty tpgid ...`. Split at the last `) `, because the name may hold
    // any characters.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return fields[2] === fields[5];
  }, false);
}

function ignore(): void {}
