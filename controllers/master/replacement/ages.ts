/**
 * Measures the age of timestamps in records, for rollouts and drains. While this master decides, a jump of
 * the wall clock moves no deadline.
 */
import type { Clock } from '../../../src/loop/clock.js';

/** An instant of the wall clock, and where it lies on the monotonic one. */
interface Anchor {
  readonly instant: number;
  readonly at: number;
}

export class Ages {
  readonly #clock: Clock;
  readonly #anchors = new Map<string, Map<string, Anchor>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Ties `instant` (Unix milliseconds) to the monotonic clock. `what` names the instant among those of `key`. */
  note(key: string, what: string, instant: number): void {
    const own = this.#anchors.get(key) ?? new Map<string, Anchor>();
    this.#anchors.set(key, own.set(what, this.#anchorOf(key, what, instant)));
  }

  /** Milliseconds since `instant`, by its note if there is one. */
  since(key: string, what: string, instant: number): number {
    return this.#clock.monotonic() - this.#anchorOf(key, what, instant).at;
  }

  forget(key: string): void {
    this.#anchors.delete(key);
  }

  #anchorOf(key: string, what: string, instant: number): Anchor {
    const known = this.#anchors.get(key)?.get(what);
    if (known?.instant === instant) return known;
    return { instant, at: this.#clock.monotonic() - Math.max(0, this.#clock.now() - instant) };
  }
}
