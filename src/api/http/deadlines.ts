/**
 * Keeps many waits of the same length under one timer. A timer and a listener for each would take a good part of the
 * time of a small request. A wait begins once and is not repeated.
 */
export class Deadlines<T> {
  readonly #limitMs: number;
  readonly #onLate: (waiting: T) => void;
  /** The time when each wait is due. All waits are equally long, so the first is due first. */
  readonly #dueAt = new Map<T, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `onLate` is called once for each wait that is still open after `limitMs`. */
  constructor(limitMs: number, onLate: (waiting: T) => void) {
    this.#limitMs = limitMs;
    this.#onLate = onLate;
  }

  /** Begins a wait. The timer does not keep the process alive. */
  add(waiting: T): void {
    this.#dueAt.set(waiting, performance.now() + this.#limitMs);
    this.#timer ??= this.#wake(this.#limitMs);
  }

  /** Ends a wait in time. Idempotent. */
  delete(waiting: T): void {
    this.#dueAt.delete(waiting);
  }

  #wake(delayMs: number): NodeJS.Timeout {
    return setTimeout(() => this.#look(), delayMs).unref();
  }

  #look(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const [waiting, dueAt] of this.#dueAt) {
      if (dueAt > now) {
        this.#timer ??= this.#wake(Math.ceil(dueAt - now));
        return;
      }
      this.#dueAt.delete(waiting);
      this.#onLate(waiting);
    }
  }
}
