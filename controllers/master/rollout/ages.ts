/** How long ago the instants of records are. A jump of the wall clock moves no deadline while this master decides. */
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

  /** Milliseconds since `instant` (Unix milliseconds), which `what` names among those of `key`. */
  since(key: string, what: string, instant: number): number {
    const own = this.#anchors.get(key) ?? new Map<string, Anchor>();
    this.#anchors.set(key, own);
    const now = this.#clock.monotonic();
    let anchor = own.get(what);
    if (anchor?.instant !== instant) {
      anchor = { instant, at: now - Math.max(0, this.#clock.now() - instant) };
      own.set(what, anchor);
    }
    return now - anchor.at;
  }

  forget(key: string): void {
    this.#anchors.delete(key);
  }
}
