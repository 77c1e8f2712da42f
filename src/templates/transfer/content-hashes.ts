/** Has threads hash the contents of packs, in batches, while further contents arrive. */
import { abortable } from '../../loop/abortable.js';
import type { PackThreads } from './pack-threads.js';

/** A batch takes a few milliseconds, so that callers who wait for a thread take turns. */
const BATCH_BYTES = 4 * 1024 * 1024;
const BATCH_CONTENTS = 256;

interface HashedContent {
  /** The absolute path of the pack. */
  readonly pack: string;
  readonly at: number;
  readonly size: number;
  /** Resolves when the pack can be read up to the end of this content. Absent: it can be read already. */
  readonly written?: () => Promise<void>;
  /** Called with the hash. */
  take(hash: Buffer): void;
}

export class ContentHashes {
  readonly #threads: PackThreads;
  readonly #signal: AbortSignal;
  #batch: HashedContent[] = [];
  #batchBytes = 0;
  readonly #running: Promise<void>[] = [];

  constructor(threads: PackThreads, signal: AbortSignal) {
    this.#threads = threads;
    this.#signal = signal;
  }

  /** Adds a content. Contents of one pack come in their order, because only the last `written` of a batch is called. */
  add(content: HashedContent): void {
    if (this.#batch[0] !== undefined && this.#batch[0].pack !== content.pack) this.#begin();
    this.#batch.push(content);
    this.#batchBytes += content.size;
    if (this.#batchBytes >= BATCH_BYTES || this.#batch.length >= BATCH_CONTENTS) this.#begin();
  }

  /**
   * Resolves when all hashes were taken. Throws the first failure of the disk, and rejects as soon as the signal
   * aborts.
   */
  async done(): Promise<void> {
    this.#begin();
    await abortable(Promise.all(this.#running), this.#signal);
  }

  #begin(): void {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    const running = this.#hash(batch);
    // A failure reaches the caller through `done`.
    running.catch(() => undefined);
    this.#running.push(running);
  }

  async #hash(batch: readonly HashedContent[]): Promise<void> {
    const last = batch.at(-1);
    if (last === undefined) return;
    await last.written?.();
    this.#signal.throwIfAborted();
    const contents = batch.map(({ at, size }) => ({ at, size }));
    const hashes = await this.#threads.hash({ pack: last.pack, contents });
    for (const [index, hash] of hashes.entries()) batch[index]?.take(hash);
  }
}
