/**
 * The output of one command on its way to a reader, bounded and without control characters. Once closed, it prints
 * nothing.
 */
import { jsonText, plainLines } from '../command-tree/printed-text.js';

export const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const LIMIT_MIB = MAX_OUTPUT_BYTES / 1024 / 1024;

export class CommandOutput {
  readonly #write: (text: string) => void;
  #left = MAX_OUTPUT_BYTES;
  #isClosed = false;

  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Prints whole lines; '' prints nothing. Output beyond 4 MiB is cut, and a last line says so. */
  print(text: string): void {
    if (text === '' || this.#isClosed) return;
    const plain = plainLines(text);
    if (this.#fits(plain)) {
      this.#write(plain);
      return;
    }
    this.#isClosed = true;
    this.#write(
      `${wholeLines(plain, this.#left)}[the rest is cut: a command prints ${LIMIT_MIB} MiB at most]\n`,
    );
  }

  /**
   * Prints one JSON value; the elements of an array have a line each. A value that does not fit is replaced by
   * `{"error"}`.
   */
  printJson(value: unknown): void {
    if (this.#isClosed) return;
    const text = jsonText(value);
    if (this.#fits(text)) this.#write(text);
    else this.print(jsonText({ error: `the output is longer than ${LIMIT_MIB} MiB: ask for less` }));
  }

  /** Ends the output. Idempotent. */
  close(): void {
    this.#isClosed = true;
  }

  #fits(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}

/** The whole lines at the start of `text` that fit into `bytes`. */
function wholeLines(text: string, bytes: number): string {
  const part = Buffer.from(text).subarray(0, bytes);
  return part.subarray(0, part.lastIndexOf('\n') + 1).toString();
}
