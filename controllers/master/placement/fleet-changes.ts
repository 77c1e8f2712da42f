/**
 * Notes, in order, which parts of the fleet changed. A shortlist reads the changes since its last look, so a change
 * costs the same however many shortlists there are. The ledger, the busy ports and `Places` note changes; no listener
 * is called.
 */

export interface FleetChange {
  /**
   * `node`: anything about a node may have changed, such as its record, its busy ports, or what came free there.
   * `less`: an instance got a place on the node, so less is free there. `ports`: a port came free under a host address.
   */
  readonly what: 'node' | 'less' | 'ports';
  /** The node's id for `node` and `less`; the host address for `ports`. */
  readonly of: string;
}

/** How many changes are kept. A shortlist that is further behind looks at the whole fleet. */
const MOST_KEPT = 8192;

export class FleetChanges {
  #noted: FleetChange[] = [];
  #dropped = 0;

  /** How many changes there were. */
  get count(): number {
    return this.#dropped + this.#noted.length;
  }

  note(what: FleetChange['what'], of: string): void {
    this.#noted.push({ what, of });
    if (this.#noted.length < 2 * MOST_KEPT) return;
    this.#dropped += MOST_KEPT;
    this.#noted = this.#noted.slice(MOST_KEPT);
  }

  /** The changes after the first `count`; undefined: some of them are no longer kept. */
  since(count: number): readonly FleetChange[] | undefined {
    const from = count - this.#dropped;
    return from < 0 ? undefined : this.#noted.slice(from);
  }
}
