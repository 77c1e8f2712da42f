/** Which entries of a topic a reader wants, and which changes it must hear of to know them. */
import type { Placed, Traits } from './change-order.js';

export interface FilterOptions {
  /** Names; `*` stands for any characters. */
  readonly configuration?: readonly string[] | undefined;
  readonly node?: readonly string[] | undefined;
  readonly state?: readonly string[] | undefined;
}

export class WatchFilter {
  /** Equal for filters that let the same through. */
  readonly key: string;
  readonly #isConfiguration: ((name: string) => boolean) | undefined;
  readonly #nodes: ReadonlySet<string> | undefined;
  readonly #states: ReadonlySet<string> | undefined;

  constructor({ configuration, node, state }: FilterOptions = {}) {
    this.key = JSON.stringify([configuration, node, state].map((names) => names && [...names].sort()));
    this.#isConfiguration = configuration && matcherOf(configuration);
    this.#nodes = node && new Set(node);
    this.#states = state && new Set(state);
  }

  matches({ configuration, node, state }: Traits): boolean {
    return (
      (this.#isConfiguration === undefined ||
        (configuration !== undefined && this.#isConfiguration(configuration))) &&
      (this.#nodes === undefined || (node !== undefined && this.#nodes.has(node))) &&
      (this.#states === undefined || (state !== undefined && this.#states.has(state)))
    );
  }

  /** True when a reader that stands at `from` may hold an entry that does not match any more, or is gone. */
  mayHold({ before, traits }: Placed, from: number): boolean {
    if (before === undefined) return false;
    if (before.place <= from) return before.traits !== undefined && this.matches(before.traits);
    // What it was when the reader stood at `from` is not known any more. Its configuration never changes.
    const configuration = (traits ?? before.traits)?.configuration;
    return configuration === undefined || this.#isConfiguration?.(configuration) !== false;
  }
}

function matcherOf(patterns: readonly string[]): (name: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[.\\+?^${}()|[\]]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`);
  });
  return (name) => expressions.some((expression) => expression.test(name));
}
