/**
 * The threads that read the packs of the template cache: they copy small files into working directories, and hash
 * contents. The daemon's event loop has one message for a batch of files, where Node's own I/O threads would take
 * several for each file. A thread begins with the first batch that needs it and stays; the next batch replaces a thread
 * that ended.
 */
import { Worker } from 'node:worker_threads';
import { DroverError } from '../../model/errors.js';
import type { CopyBatch } from './copy-batch.js';
import { eachHash, type HashBatch } from './hash-batch.js';

/** More threads would only wait for the same disk, and each takes some megabytes. */
export const PACK_THREADS = 2;

export type PackJob = ({ readonly do: 'copy' } & CopyBatch) | ({ readonly do: 'hash' } & HashBatch);

export interface AskedJob {
  readonly id: number;
  readonly job: PackJob;
}

export interface JobAnswer {
  readonly id: number;
  readonly hashes: Uint8Array | undefined;
  /** The failure that stopped the job; undefined: the job is done. */
  readonly failure: JobFailure | undefined;
}

/** A system error without its stack; a message to another thread drops the fields of an error. */
export interface JobFailure {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly path: string | undefined;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<
    number,
    { resolve(hashes: Uint8Array | undefined): void; reject(error: Error): void }
  >;
}

export class PackThreads {
  readonly #program: string;
  /** The running threads by their number. */
  readonly #threads = new Map<number, Thread>();
  #nextId = 1;
  #isStopped = false;

  /** `program`: the path of the built pack-thread-main.js. */
  constructor(program: string) {
    this.#program = program;
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
    this.#isStopped = true;
    await Promise.all([...this.#threads.values()].map(({ worker }) => worker.terminate()));
  }

  #run(choose: (thread: number) => PackJob): Promise<Uint8Array | undefined> {
    if (this.#isStopped) return Promise.reject(ended());
    const number = this.#leastBusy();
    const { worker, waiting } = this.#threads.get(number) ?? this.#begin(number);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, job: choose(number) } satisfies AskedJob);
    });
  }

  #leastBusy(): number {
    const loads = Array.from(
      { length: PACK_THREADS },
      (_, number) => this.#threads.get(number)?.waiting.size ?? 0,
    );
    return loads.indexOf(Math.min(...loads));
  }

  #begin(number: number): Thread {
    // The thread gets no environment, which holds secrets, and no options, which may load code.
    const worker = new Worker(this.#program, { name: 'packs', env: {}, execArgv: [] });
    const thread: Thread = { worker, waiting: new Map() };
    this.#threads.set(number, thread);
    worker.on('message', ({ id, hashes, failure }: JobAnswer) => {
      const asked = thread.waiting.get(id);
      thread.waiting.delete(id);
      if (failure === undefined) asked?.resolve(hashes);
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
    // The threads do not keep the daemon alive.
    worker.unref();
    return thread;
  }
}

function errorOf({ message, ...fields }: JobFailure): Error {
  return Object.assign(new Error(message), fields);
}

function ended(): DroverError {
  return new DroverError('DRV_INTERNAL', 'the thread that copies and hashes files has ended');
}
