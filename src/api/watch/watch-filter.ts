/** Decides which entries of a topic a reader wants, and which changes the reader needs to know those entries. */

import type { Access } from '../../access/access.js';
import { matchesAny } from '../../model/access/name-pattern.js';
import type { Placed, Traits } from './change-order.js';

export interface FilterOptions {
  /** The names to filter by; `*` stands for any characters. */
  readonly configuration?: readonly string[] | undefined;
  readonly node?: readonly string[] | undefined;
  readonly state?: readonly string[] | undefined;
}

/** The parts of the state that a reader may see, whatever it asks for. */
export type Sight = Pick<Access, 'configurations' | 'sees'>;

export class WatchFilter {
  /** The key of the filter, equal for filters that pass equal entries. */
  readonly key: string;
  /** True when the reader's key is restricted to configurations. */
  readonly isRestricted: boolean;
  readonly #sight: Sight;
  readonly #configurations: readonly string[] | undefined;
  readonly #nodes: ReadonlySet<string> | undefined;
  readonly #states: ReadonlySet<string> | undefined;

  constructor({ configuration, node, state }: FilterOptions, sight: Sight) {
    const lists = [configuration, node, state, sight.configurations ?? undefined];
    this.key = JSON.stringify(lists.map((names) => names && [...names].sort()));
    this.isRestricted = sight.configurations !== null;
    this.#sight = sight;
    this.#configurations = configuration;
    this.#nodes = node && new Set(node);
    this.#states = state && new Set(state);
  }

  matches({ configuration, node, state }: Traits): boolean {
    return (
      this.#isConfiguration(configuration) &&
      (this.#nodes === undefined || (node !== undefined && this.#nodes.has(node))) &&
      (this.#states === undefined || (state !== undefined && this.#states.has(state)))
    );
  }

  /**
   * True when a reader may hold an entry that no longer matches, or is gone. `knownTo`: the end of the topic when the
   * reader last had every entry.
   */
  mayHold({ before, traits }: Placed, knownTo: number): boolean {
    if (before === undefined) return false;
    if (before.place <= knownTo) return before.traits !== undefined && this.matches(before.traits);
    // The form in which the reader got the entry is no longer known. An entry never changes its configuration, so only
    // the configuration is compared.
    const configuration = (traits ?? before.traits)?.configuration;
    return this.#isConfiguration(configuration);
  }

  #isConfiguration(name: string | undefined): boolean {
    // A reader who does not filter by configuration sees every entry that has no configuration.
    if (name === undefined) return this.#configurations === undefined;
    return (
      this.#sight.sees(name) && (this.#configurations === undefined || matchesAny(this.#configurations, name))
    );
  }
}
