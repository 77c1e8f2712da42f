/**
 * The threads that read the packs of the template cache: they copy small files into working directories, and hash
 * contents. The daemon's event loop has one message for a batch of files, where Node's own I/O threads would take
 * several for each file. A thread begins with the first batch that needs it and stays; the next batch replaces a thread
 * that ended.
 */
import { WorkerThread } from '../../loop/worker-thread.js';
import type { CopyBatch } from './copy-batch.js';
import { eachHash, type HashBatch } from './hash-batch.js';

/** More threads would only wait for the same disk, and each takes some megabytes. */
export const PACK_THREADS = 2;

export type PackJob = ({ readonly do: 'copy' } & CopyBatch) | ({ readonly do: 'hash' } & HashBatch);

export class PackThreads {
  readonly #threads: readonly WorkerThread<PackJob, Uint8Array | undefined>[];

  /** `program`: the path of the built pack-thread-main.js. */
  constructor(program: string) {
    const options = { program, name: 'packs', task: 'copies and hashes files' };
    this.#threads = Array.from({ length: PACK_THREADS }, () => new WorkerThread(options));
  }

  /**
   * Gives a batch to the least busy thread. `choose` returns the batch for the thread of this number. Resolves when the
   * whole batch is done. Rejects with the system's error of the first failure; the rest of the batch is left undone.
   */
  async copy(choose: (thread: number) => CopyBatch): Promise<void> {
    await this.#run((thread) => ({ do: 'copy', ...choose(thread) }));
  }

  /**
   * The SHA-256 of each content. Where the pack is too short, only the bytes that are there are hashed. Rejects with
   * the system's error.
   */
  async hash(batch: HashBatch): Promise<Buffer[]> {
    return [...eachHash((await this.#run(() => ({ do: 'hash', ...batch }))) ?? new Uint8Array())];
  }

  /** Ends the threads. Resolves when none of them copies any more. Idempotent. */
  async stop(): Promise<void> {
    await Promise.all(this.#threads.map((thread) => thread.stop()));
  }

  async #run(choose: (thread: number) => PackJob): Promise<Uint8Array | undefined> {
    const loads = this.#threads.map(({ load }) => load);
    const number = loads.indexOf(Math.min(...loads));
    return await this.#threads[number]?.ask(choose(number));
  }
}
