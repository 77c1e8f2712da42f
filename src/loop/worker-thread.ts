/**
 * A thread that does jobs for the daemon. It starts with the first job. A thread that has ended is replaced at the
 * next job. The thread's program calls `answerJobs`.
 */
import { parentPort, Worker } from 'node:worker_threads';
import { DroverError } from '../model/errors.js';
import type { Clock, TimerHandle } from './clock.js';

/** How long a thread waits for more work, so that jobs that come at once share it. */
const IDLE_MS = 5000;

interface Asked<Job> {
  readonly id: number;
  readonly job: Job;
}

interface Reply<Answer> {
  readonly id: number;
  readonly answer?: Answer;
  readonly failure?: Failure;
}

/**
 * An error as it travels between threads, without its stack. An Error object would lose its own fields, such as the
 * code.
 */
interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
  readonly path: string | undefined;
}

interface Waiting<Answer> {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: Error) => void;
}

interface Running<Answer> {
  readonly worker: Worker;
  /** The jobs that wait for their answer, by their ids. */
  readonly waiting: Map<number, Waiting<Answer>>;
}

interface WorkerThreadOptions {
  /** The built program of the thread. */
  readonly program: string;
  readonly name: string;
  /** Completes "the thread that …" in messages. */
  readonly task: string;
  /** Present: the thread ends when it has had no work for some seconds. */
  readonly clock?: Pick<Clock, 'setTimer'>;
}

export class WorkerThread<Job, Answer> {
  readonly #options: WorkerThreadOptions;
  #running: Running<Answer> | undefined;
  #nextId = 1;
  #isStopped = false;
  #idle: TimerHandle | undefined;

  constructor(options: WorkerThreadOptions) {
    this.#options = options;
  }

  /** How many jobs wait for their answer. */
  get load(): number {
    return this.#running?.waiting.size ?? 0;
  }

  /**
   * Gives the thread a job, and resolves with its answer. Rejects with the job's error, including code and path, or
   * when the thread ends.
   */
  async ask(job: Job): Promise<Answer> {
    if (this.#isStopped) throw this.#ended();
    this.#running ??= this.#begin();
    const { worker, waiting } = this.#running;
    const id = this.#nextId++;
    this.#idle?.cancel();
    try {
      return await new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        worker.postMessage({ id, job } satisfies Asked<Job>);
      });
    } finally {
      if (waiting.size === 0) this.#idle = this.#options.clock?.setTimer(IDLE_MS, () => void this.rest());
    }
  }

  /** Ends the thread until the next job. */
  async rest(): Promise<void> {
    this.#idle?.cancel();
    const running = this.#running;
    this.#running = undefined;
    await running?.worker.terminate();
  }

  /** Ends the thread for good. Resolves when it does nothing any more. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.rest();
  }

  #begin(): Running<Answer> {
    const { program, name } = this.#options;
    // Give the thread nothing of the daemon's own: its environment holds secrets, and its options may load code.
    const worker = new Worker(program, { name, env: {}, execArgv: [] });
    const running: Running<Answer> = { worker, waiting: new Map() };
    worker.on('message', ({ id, answer, failure }: Reply<Answer> & { readonly answer: Answer }) => {
      const asked = running.waiting.get(id);
      running.waiting.delete(id);
      if (failure === undefined) asked?.resolve(answer);
      else asked?.reject(errorOf(failure));
    });
    let reason: Error = this.#ended();
    worker.on('error', (error) => {
      reason = error;
    });
    worker.on('exit', () => {
      if (this.#running === running) this.#running = undefined;
      for (const { reject } of running.waiting.values()) reject(reason);
    });
    // The thread must not keep the daemon alive.
    worker.unref();
    return running;
  }

  #ended(): DroverError {
    return new DroverError('DRV_INTERNAL', `the thread that ${this.#options.task} has ended`);
  }
}

/** Called once by the program of a thread: answers each job with what `work` returns or throws. */
export function answerJobs<Job, Answer>(work: (job: Job) => Answer | Promise<Answer>): void {
  parentPort?.on('message', async ({ id, job }: Asked<Job>) => parentPort?.postMessage(await reply(id, job)));

  async function reply(id: number, job: Job): Promise<Reply<Answer>> {
    try {
      return { id, answer: await work(job) };
    } catch (error) {
      return { id, failure: failureOf(error) };
    }
  }
}

function failureOf(error: unknown): Failure {
  const { message, code, syscall, path }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error));
  return { message, code, syscall, path };
}

function errorOf({ message, ...fields }: Failure): Error {
  return Object.assign(new Error(message), fields);
}
