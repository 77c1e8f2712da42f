/** Which instances stand on which node, as a window on the ordered list of all that is placed. Pure. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { OrderedList } from '../../live/ordered-list.js';

/** What is on one node, from `start` in the list. */
export interface Placed {
  readonly start: number;
  readonly count: number;
}

const NOTHING: Placed = { start: 0, count: 0 };

export class PlacedCells {
  readonly #list: OrderedList<InstanceInfo>;
  readonly #byNode: ReadonlyMap<string, Placed>;

  /** Of the list as it is now: made anew for each render. */
  constructor(list: OrderedList<InstanceInfo>) {
    this.#list = list;
    this.#byNode = new Map(list.groups().map((group) => [group.name, group]));
  }

  get count(): number {
    return this.#list.count;
  }

  on(nodeId: string): Placed {
    return this.#byNode.get(nodeId) ?? NOTHING;
  }

  /** At most `most` on a node. With a configuration they begin with it where not all can be shown; '': with the first. */
  some(nodeId: string, most: number, configuration: string): InstanceInfo[] {
    const { start, count } = this.on(nodeId);
    const length = Math.min(count, most);
    const first = configuration === '' ? start : this.#firstOf(configuration, { start, count });
    const from = Math.min(first, start + count - length);
    return Array.from({ length }, (_, place) => this.#list.at(from + place)).flatMap(
      (slot) => slot?.entry ?? [],
    );
  }

  countOn(nodeId: string, configuration: string): number {
    const { start, count } = this.on(nodeId);
    let found = 0;
    for (let place = start; place < start + count; place++)
      if (this.#list.at(place)?.entry.configurationName === configuration) found++;
    return found;
  }

  /** How many of a configuration there are, and on how many nodes. */
  everywhere(configuration: string): { readonly instances: number; readonly nodes: number } {
    const counts = [...this.#byNode.keys()].map((nodeId) => this.countOn(nodeId, configuration));
    return {
      instances: counts.reduce((sum, count) => sum + count, 0),
      nodes: counts.filter((count) => count > 0).length,
    };
  }

  /** Its place, or the start where the node has none. */
  #firstOf(configuration: string, { start, count }: Placed): number {
    for (let place = start; place < start + count; place++)
      if (this.#list.at(place)?.entry.configurationName === configuration) return place;
    return start;
  }
}
