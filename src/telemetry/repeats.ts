/**
 * Decides which of many equal events are told: the first, then one after a minute, two, four, up to an hour, with the
 * number of those in between. An event that did not occur for as long as its pause counts as new.
 */

const FIRST_PAUSE_MS = 60_000;
const MAX_PAUSE_MS = 3_600_000;
const MAX_CAUSES = 500;

interface Cause {
  count: number;
  pauseMs: number;
  saidAt: number;
}

export class Repeats {
  /** In order of the last time that each was told. At the limit the first is forgotten. */
  readonly #causes = new Map<string, Cause>();

  /**
   * Counts an event at `now`, monotonic milliseconds. Answers with the number of events since the last one that was
   * told, itself included; 0 for news; undefined when this one is left out.
   */
  take(cause: string, now: number): number | undefined {
    const known = this.#causes.get(cause);
    if (known === undefined || now - known.saidAt > 2 * known.pauseMs) {
      this.#remember(cause, { count: 0, pauseMs: FIRST_PAUSE_MS, saidAt: now });
      return 0;
    }
    known.count++;
    if (now - known.saidAt < known.pauseMs) return undefined;
    this.#remember(cause, { count: 0, pauseMs: Math.min(2 * known.pauseMs, MAX_PAUSE_MS), saidAt: now });
    return known.count;
  }

  /** Forgets a cause, or all: the next event is news. */
  clear(cause?: string): void {
    if (cause === undefined) this.#causes.clear();
    else this.#causes.delete(cause);
  }

  #remember(cause: string, value: Cause): void {
    this.#causes.delete(cause);
    this.#causes.set(cause, value);
    const [oldest] = this.#causes.keys();
    if (this.#causes.size > MAX_CAUSES && oldest !== undefined) this.#causes.delete(oldest);
  }
}
