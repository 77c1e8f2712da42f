/** A part that works in rounds: a pause, a round, and so on until it stops. */
import type { Clock, TimerHandle } from './clock.js';
import type { Part } from './lifecycle.js';

export abstract class Rounds implements Part {
  readonly #clock: Clock;
  readonly #everyMs: () => number;
  readonly #firstMs: number | undefined;
  readonly #stopping = new AbortController();
  #timer: TimerHandle | undefined;
  #round: Promise<void> = Promise.resolve();

  /** `everyMs`: the pause before each round; `firstMs`: before the first round. */
  constructor(clock: Clock, everyMs: number | (() => number), firstMs?: number) {
    this.#clock = clock;
    this.#everyMs = typeof everyMs === 'number' ? () => everyMs : everyMs;
    this.#firstMs = firstMs;
  }

  start(): void {
    this.#later(this.#firstMs ?? this.#everyMs());
  }

  /** Resolves when no round is under way. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#timer?.cancel();
    await this.#round;
  }

  /** Resolves when no round is under way. */
  settled(): Promise<void> {
    return this.#round;
  }

  /** Aborts when the part stops. */
  protected get stopping(): AbortSignal {
    return this.#stopping.signal;
  }

  /** Never rejects. */
  protected abstract round(): Promise<void>;

  #later(delayMs: number): void {
    if (this.stopping.aborted) return;
    this.#timer = this.#clock.setTimer(delayMs, () => {
      this.#round = this.round().finally(() => this.#later(this.#everyMs()));
    });
  }
}
