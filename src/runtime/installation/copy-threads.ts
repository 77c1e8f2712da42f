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
  readonly #threads = new Set<Thread>();
  #nextId = 1;
  #isStopped = false;

  /** `program`: the built copy-thread-main.js. */
  constructor(program: string) {
    this.#program = program;
  }

  /**
   * Resolves when the whole batch is done. Rejects with the system's error of the first failure; nothing of the batch
   * is done afterwards.
   */
  run(work: Omit<CopyBatch, 'id'>): Promise<void> {
    if (this.#isStopped) return Promise.reject(ended());
    const { worker, waiting } = this.#leastBusy();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ ...work, id } satisfies CopyBatch);
    });
  }

  /** Ends the threads, and resolves when nothing is copied any more. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()));
  }

  #leastBusy(): Thread {
    const [first] = [...this.#threads].sort((a, b) => a.waiting.size - b.waiting.size);
    if (first !== undefined && (first.waiting.size === 0 || this.#threads.size >= COPY_THREADS)) return first;
    return this.#begin();
  }

  #begin(): Thread {
    // Nothing of the daemon's own: its environment holds secrets, its options may load code.
    const worker = new Worker(this.#program, { name: 'copy', env: {}, execArgv: [] });
    const thread: Thread = { worker, waiting: new Map() };
    this.#threads.add(thread);
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
      this.#threads.delete(thread);
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
