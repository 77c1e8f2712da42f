/**
 * Keeps two processes from writing the same store. Each process that opens it gets the next writer's number, and each
 * write expects the summary that this process wrote last. The root's lock is the first guard; this fence holds where
 * that lock does not reach.
 */
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import { stampOf } from './lmdb-record.js';

/** How soon a process that writes nothing learns of another writer. */
const LOOK_EVERY_MS = 1000;

/** How a process learns of the loss of its store. */
export interface FenceOptions {
  readonly clock: Clock;
  /** Called at most once. The process must end, because another process acts for this node. */
  readonly onFenced: (error: DroverError) => void;
}

interface WriterFenceOptions extends Partial<FenceOptions> {
  readonly file: string;
  /** The summary that this process wrote when it opened the store. */
  readonly summary: Buffer;
  /**
   * Resolves with true when the summary on disk has this stamp. Also true while a write is under way, because
   * that write compares the stamp itself.
   */
  readonly isOurs: (stamp: number) => Promise<boolean>;
}

export class WriterFence {
  readonly #options: WriterFenceOptions;
  #stamp: number;
  #loss: DroverError | undefined;
  #timer: TimerHandle | undefined;

  constructor(options: WriterFenceOptions) {
    this.#options = options;
    this.#stamp = stampOf(options.summary);
    this.#schedule();
  }

  /** The stamp of the summary that the next write replaces. Throws DRV_STORE_FENCED after the loss of the store. */
  get stamp(): number {
    if (this.#loss !== undefined) throw this.#loss;
    return this.#stamp;
  }

  /** Notes another summary that this process has written. */
  moveTo(summary: Buffer): void {
    this.#stamp = stampOf(summary);
  }

  /** Called when another process has written. Returns the error for this and all later writes. */
  lose(): DroverError {
    if (this.#loss !== undefined) return this.#loss;
    this.stop();
    this.#loss = new DroverError(
      'DRV_STORE_FENCED',
      `another Drover has opened the store ${this.#options.file}; this one writes nothing any more`,
    );
    this.#options.onFenced?.(this.#loss);
    return this.#loss;
  }

  /** Stops watching. Idempotent. */
  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #schedule(): void {
    this.#timer = this.#options.clock?.setTimer(LOOK_EVERY_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    const stamp = this.#stamp;
    // Ignore a failure of the disk here: the next write reports it.
    const isOurs = await this.#options.isOurs(stamp).catch(() => true);
    if (this.#timer === undefined) return;
    if (isOurs || stamp !== this.#stamp) this.#schedule();
    else this.lose();
  }
}
