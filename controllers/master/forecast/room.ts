/** Finds out which new instances of a plan fit nowhere, one after another, in the order in which they are made. */
import type { Pace } from '../../../src/loop/pace.js';
import type { Shortage } from '../../../src/operations/plan/forecast.js';
import type { InstanceContent } from '../../../src/state/instance-changes.js';
import type { Foretold, ForetoldVictim } from '../rollout/foretell.js';
import type { StillPlaces } from './still-places.js';

/** The most new instances that are placed in one plan: each takes some 10 µs. */
const MOST_PLACED = 20_000;
/** Placing the first instance of a content looks at all nodes: at so many in the time of one placement. */
const NODES_A_PLACEMENT = 40;

export class Room {
  readonly #pace: Pace;
  /** The cost of the first instance of a content beside its placement, in placements. */
  readonly #lookCost: number;
  readonly #shortages = new Map<string, Shortage>();
  readonly #wanted = new Map<string, number>();
  #left = MOST_PLACED;
  /** How many new instances were not tried, because the plan has too many. */
  unjudged = 0;

  constructor(pace: Pace, nodes: number) {
    this.#pace = pace;
    this.#lookCost = Math.floor(nodes / NODES_A_PLACEMENT);
  }

  /**
   * Places `count` new instances with `place`, which returns why an instance has no place; undefined: it has
   * one.
   */
  async placeAll(name: string, count: number, place: (index: number) => string | undefined): Promise<void> {
    if (count === 0) return;
    const judged = Math.max(0, Math.min(count, this.#left - this.#lookCost));
    this.#left -= judged + this.#lookCost;
    this.unjudged += count - judged;
    this.#want(name, judged);
    for (let placed = 0; placed < judged; placed++) {
      if (this.#pace.isOver) await this.#pace.rest();
      const message = place(placed);
      if (message === undefined) continue;
      // All instances of a content have equal needs: when one fits nowhere, the others do not fit either.
      this.#lack(name, judged - placed, message);
      return;
    }
  }

  /** Adds instances that were already tried. `refusals`: why each has no place; undefined: it has one. */
  note(name: string, refusals: readonly (string | undefined)[]): void {
    this.#want(name, refusals.length);
    const missing = refusals.filter((refusal) => refusal !== undefined);
    const [message] = missing;
    if (message !== undefined) this.#lack(name, missing.length, message);
  }

  shortages(): Shortage[] {
    return [...this.#shortages.values()].map((shortage) => ({
      ...shortage,
      wanted: this.#wanted.get(shortage.configurationName) ?? 0,
    }));
  }

  #want(name: string, count: number): void {
    this.#wanted.set(name, (this.#wanted.get(name) ?? 0) + count);
  }

  #lack(name: string, count: number, why: string): void {
    const { missing, message } = this.#shortages.get(name) ?? { missing: 0, message: why };
    this.#shortages.set(name, { configurationName: name, wanted: 0, missing: missing + count, message });
  }
}

/**
 * Tries a place beside the victim if the rollout allows that, else the victim's place. Returns why no place fits;
 * undefined: a place fits.
 */
export function placeInstead(
  places: StillPlaces,
  content: InstanceContent,
  { id, isUp }: ForetoldVictim,
  { surge, unavailable }: Foretold['budget'],
): string | undefined {
  const beside = isUp && surge > 0 ? places.place(content) : 'it goes first';
  if (beside !== undefined && isUp && unavailable === 0) return beside;
  places.end(id);
  return beside === undefined ? undefined : places.place(content);
}
