/**
 * Edits settings files in a thread of their own. The instance wrote them: one that takes long to read must not hold up
 * the daemon.
 */
import PQueue from 'p-queue';
import type { Clock } from '../../../loop/clock.js';
import { withDeadline } from '../../../loop/deadline.js';
import { WorkerThread } from '../../../loop/worker-thread.js';
import type { EditJob, editContent } from './file-edit.js';

const MOST_MS = 5000;

export class EditThread {
  readonly #thread: WorkerThread<EditJob, ReturnType<typeof editContent>>;
  readonly #clock: Clock;
  /** A single job at a time, so that a job that takes too long ends no other one with its thread. */
  readonly #turns = new PQueue({ concurrency: 1 });

  /** `program`: the path of the built edit-thread-main.js. */
  constructor(program: string, clock: Clock) {
    this.#clock = clock;
    this.#thread = new WorkerThread({ program, name: 'edits', task: 'edits settings files', clock });
  }

  /** Resolves as `editContent` returns. Rejects with its error, and when the file takes longer than some seconds. */
  edit(job: EditJob): Promise<ReturnType<typeof editContent>> {
    const expired = (): Error => {
      void this.#thread.rest();
      return new Error(`reading it takes longer than ${MOST_MS / 1000} s`);
    };
    const limit = { limitMs: MOST_MS, clock: this.#clock, signal: new AbortController().signal, expired };
    return this.#turns.add(() => withDeadline(limit, () => this.#thread.ask(job)));
  }

  /** Ends the thread. Idempotent. */
  stop(): Promise<void> {
    return this.#thread.stop();
  }
}
