/**
 * Decides which of many equal events are told: the first, then one after a minute, two, four, up to an hour, each
 * with the number of events in between. When nothing was told for more than twice the pause, the next event counts as
 * new.
 */
import { keepLatest } from '../model/plain/keep-latest.js';

const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;
const MAX_CAUSES = 500;

interface Cause {
  count: number;
  pauseMs: number;
  saidAt: number;
}

export class Repeats {
  /** The causes in order of their last telling. At the limit the first cause is forgotten. */
  readonly #causes = new Map<string, Cause>();

  /**
   * Counts an event at `now`, monotonic milliseconds. Returns how many events came since the last one told, including
   * this event; 0: it is new. Undefined: do not tell this event.
   */
  take(cause: string, now: number): number | undefined {
    const known = this.#causes.get(cause);
    if (known === undefined || now - known.saidAt > 2 * known.pauseMs) {
      keepLatest(this.#causes, MAX_CAUSES, cause, { count: 0, pauseMs: FIRST_PAUSE_MS, saidAt: now });
      return 0;
    }
    known.count++;
    if (now - known.saidAt < known.pauseMs) return undefined;
    keepLatest(this.#causes, MAX_CAUSES, cause, {
      count: 0,
      pauseMs: Math.min(2 * known.pauseMs, MAX_PAUSE_MS),
      saidAt: now,
    });
    return known.count;
  }

  /** Forgets all causes: their next event counts as new. */
  clear(): void {
    this.#causes.clear();
  }
}
