/**
 * The threads that copy small files into working directories. The daemon's event loop has one message for a batch of
 * files, where Node's own I/O threads would take several for each. A thread begins with the first batch that needs it
 * and stays; one that ended is replaced by the next batch.
 */
import { Worker } from 'node:worker_threads';
import { DroverError } from '../../model/errors.js';
import type { CopyAnswer, CopyBatch, CopyFailure } from './copy-batch.js';

/** More would only wait for the same disk, and each takes some megabytes. */
export const COPY_THREADS = 2;

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, { resolve(): void; reject(error: Error): void }>;
}

export class CopyThreads {
  readonly #program: string;
  /** The running ones by their number. */
  readonly #threads = new Map<number, Thread>();
  #nextId = 1;
  #isStopped = false;

  /** `program`: the built copy-thread-main.js. */
  constructor(program: string) {
    this.#program = program;
  }

  /**
   * Gives the least busy thread a batch: the one that `choose` has for the thread of this number. Resolves when the
   * whole batch is done. Rejects with the system's error of the first failure; nothing of the batch is done afterwards.
   */
  run(choose: (thread: number) => Omit<CopyBatch, 'id'>): Promise<void> {
    if (this.#isStopped) return Promise.reject(ended());
    const number = this.#leastBusy();
    const { worker, waiting } = this.#threads.get(number) ?? this.#begin(number);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...choose(number), id } satisfies CopyBatch);
    });
  }

  /** Ends the threads, and resolves when nothing is copied any more. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#threads.values()].map(({ worker }) => worker.terminate()));
  }

  #leastBusy(): number {
    const loads = Array.from(
      { length: COPY_THREADS },
      (_, number) => this.#threads.get(number)?.waiting.size ?? 0,
    );
    return loads.indexOf(Math.min(...loads));
  }

  #begin(number: number): Thread {
    // Nothing of the daemon's own: its environment holds secrets, its options may load code.
    const worker = new Worker(this.#program, { name: 'copy', env: {}, execArgv: [] });
    const thread: Thread = { worker, waiting: new Map() };
    this.#threads.set(number, thread);
    worker.on('message', ({ id, failure }: CopyAnswer) => {
      const asked = thread.waiting.get(id);
      thread.waiting.delete(id);
      if (failure === undefined) asked?.resolve();
      else asked?.reject(errorOf(failure));
    });
    let reason: Error = ended();
    worker.on('error', (error) => {
      reason = error;
    });
    worker.on('exit', () => {
      this.#threads.delete(number);
      for (const { reject } of thread.waiting.values()) reject(reason);
    });
    // What else the daemon does decides how long it lives.
    worker.unref();
    return thread;
  }
}

function errorOf({ message, ...fields }: CopyFailure): Error {
  return Object.assign(new Error(message), fields);
}

function ended(): DroverError {
  return new DroverError('DRV_INTERNAL', 'the thread that copies files has ended');
}
