/**
 * Reads one stream for several readers, each at its own pace, because many wrappers often want the same tree at the
 * same time. A reader that falls far behind continues with a stream of its own. So it holds up no other reader, and
 * memory is bounded.
 */
import { shared } from '../../loop/remembered.js';

/** How many bytes are kept behind the fastest reader. */
const WINDOW_BYTES = 16 * 1024 * 1024;

export class SharedStream {
  readonly #open: () => AsyncIterable<Buffer>;
  readonly #onUnused: () => void;
  readonly #windowBytes: number;
  readonly #source: AsyncIterator<Buffer>;
  /** The pieces that are kept; `#dropped` is the number of pieces dropped before them. */
  #pieces: Buffer[] = [];
  #dropped = 0;
  #keptBytes = 0;
  #readers = 0;
  readonly #pull = shared(() => this.#take());
  #isEnded = false;
  #failure: { readonly error: unknown } | undefined;

  /** `open` opens the source, which gives the same bytes each time. `onUnused` is called once, when no reader is left. */
  constructor(open: () => AsyncIterable<Buffer>, onUnused: () => void, windowBytes = WINDOW_BYTES) {
    this.#open = open;
    this.#onUnused = onUnused;
    this.#windowBytes = windowBytes;
    this.#source = open()[Symbol.asyncIterator]();
  }

  /**
   * True while the stream still has its first bytes and has not failed. Otherwise a new reader needs another
   * stream.
   */
  get isJoinable(): boolean {
    return this.#dropped === 0 && this.#failure === undefined;
  }

  /** Reads from the beginning, while the stream is joinable. Errors of the source reach every reader. */
  async *read(): AsyncGenerator<Buffer> {
    this.#readers++;
    let next = 0;
    let bytes = 0;
    try {
      while (next >= this.#dropped) {
        const piece = this.#pieces[next - this.#dropped];
        if (piece !== undefined) {
          next++;
          bytes += piece.length;
          yield piece;
        } else if (this.#isEnded) return;
        else await this.#pull();
      }
    } finally {
      await this.#leave();
    }
    yield* without(bytes, this.#open());
  }

  async #take(): Promise<void> {
    const piece = await this.#next();
    if (piece === undefined) return;
    this.#pieces.push(piece);
    this.#keptBytes += piece.length;
    while (this.#keptBytes > this.#windowBytes && this.#pieces.length > 1) {
      this.#keptBytes -= this.#pieces.shift()?.length ?? 0;
      this.#dropped++;
    }
  }

  async #next(): Promise<Buffer | undefined> {
    // Throw the known failure again: a failed source that is asked once more reports only its end.
    if (this.#failure !== undefined) throw this.#failure.error;
    try {
      const { done, value } = await this.#source.next();
      this.#isEnded = done === true;
      return done === true ? undefined : value;
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
  }

  async #leave(): Promise<void> {
    if (--this.#readers > 0) return;
    this.#onUnused();
    this.#pieces = [];
    await this.#source.return?.();
  }
}

/** Skips the first bytes of a stream. */
async function* without(bytes: number, source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let left = bytes;
  for await (const piece of source) {
    if (piece.length > left) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}
