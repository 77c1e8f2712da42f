/**
 * The waiting controller: when something changes that may free a place or a port, it asks placement to look at the
 * instances concerned. It has one key for all instances.
 */
import type { Clock } from '../../../src/loop/clock.js';
import type { Reconciler } from '../../../src/loop/reconciler.js';
import type { LookupReader } from '../../../src/store/lookup.js';
import type { Places } from '../placement/places.js';
import { type LookStep, plan, type WaitingFacts, type WaitingGroup } from './plan.js';

interface WaitingOptions {
  readonly places: Places;
  /** The waiting instances, by the key that `waitingGroupOf` gives. */
  readonly awaitingPlace: LookupReader<string>;
  /**
   * True when placement failed with this instance and will retry after a delay. A look now would cut the delay short.
   */
  readonly isRetried: (id: string) => boolean;
  /** Asks placement to look at an instance. */
  readonly onLook: (id: string) => void;
  readonly clock: Clock;
}

export class Waiting implements Reconciler<WaitingFacts, LookStep> {
  readonly name = 'waiting';
  readonly plan = plan;
  readonly #options: WaitingOptions;
  /** When the waiting instances were last looked at, in monotonic ms. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #explainedAt = Number.NEGATIVE_INFINITY;

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  observe(): WaitingFacts {
    const { awaitingPlace, clock } = this.#options;
    const now = clock.monotonic();
    const groups: WaitingGroup[] = [];
    for (const key of awaitingPlace.keys()) {
      const group = this.#groupOf(awaitingPlace.get(key));
      if (group !== undefined) groups.push(group);
    }
    return { groups, lookedAgoMs: now - this.#lookedAt, explainedAgoMs: now - this.#explainedAt };
  }

  perform({ ids, isToExplain }: LookStep): void {
    const { onLook, clock } = this.#options;
    this.#lookedAt = clock.monotonic();
    if (isToExplain) this.#explainedAt = this.#lookedAt;
    for (const id of ids) onLook(id);
  }

  /** The group of these members; undefined: placement already looks at them, or has nothing to decide about them. */
  #groupOf(members: ReadonlySet<string>): WaitingGroup | undefined {
    const { places, isRetried } = this.#options;
    const take = (most: number): string[] => {
      const taken: string[] = [];
      for (const id of members) {
        if (taken.length >= most) break;
        if (!places.isPlacing(id) && !isRetried(id)) taken.push(id);
      }
      return taken;
    };
    const [id] = take(1);
    const first = id === undefined ? undefined : places.factsOf(id);
    if (first === undefined || first.task === null) return undefined;
    // Leave out a new instance: placement looks at it directly, unless it waits for a node to come back.
    if (first.message === null && first.task === 'place' && first.awaited.forMs <= 0) return undefined;
    return { size: members.size, take, first, room: () => places.room(first.id, members.size) };
  }
}
