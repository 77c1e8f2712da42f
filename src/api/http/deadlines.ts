/**
 * Keeps many waits of the same length under one timer, because a timer and a listener of its own would be a good part of
 * what a small request takes. A wait is begun once and not again.
 */
export class Deadlines<T> {
  readonly #limitMs: number;
  readonly #onLate: (waiting: T) => void;
  /** When each is due. All wait equally long, so the first is due first. */
  readonly #dueAt = new Map<T, number>();
  #timer: NodeJS.Timeout | undefined;

  /** `onLate` is called once for each that is still waiting after `limitMs`. */
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
