/** The instances of each node, as a window on the ordered list of all placed instances. Pure. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { OrderedList } from '../../live/ordered-list.js';

/** The instances of one node, from `start` in the list. */
interface Placed {
  readonly start: number;
  readonly count: number;
}

const NOTHING: Placed = { start: 0, count: 0 };

export class PlacedCells {
  readonly #list: OrderedList<InstanceInfo>;
  readonly #byNode: ReadonlyMap<string, Placed>;

  /** Counts the list as it is now, so make it anew for each render. */
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

  /**
   * At most `most` instances of a node. When not all fit, they begin with those of the configuration; '': with the
   * first.
   */
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

  /** How many instances a configuration has, and on how many nodes. */
  everywhere(configuration: string): { readonly instances: number; readonly nodes: number } {
    const counts = [...this.#byNode.keys()].map((nodeId) => this.countOn(nodeId, configuration));
    return {
      instances: counts.reduce((sum, count) => sum + count, 0),
      nodes: counts.filter((count) => count > 0).length,
    };
  }

  /** The place of the configuration's first instance, or the start when the node has none. */
  #firstOf(configuration: string, { start, count }: Placed): number {
    for (let place = start; place < start + count; place++)
      if (this.#list.at(place)?.entry.configurationName === configuration) return place;
    return start;
  }
}
