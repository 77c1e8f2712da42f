/** Makes the rows of a grid from a plain list, in the order of the list. */
import type { RowSource } from './grid.js';

export function listRows<T>(entries: readonly T[], keyOf: (entry: T) => string): RowSource<T> {
  return {
    count: entries.length,
    at: (place) => {
      const entry = entries[place];
      return entry === undefined ? undefined : { key: keyOf(entry), entry };
    },
    groups: () => [],
  };
}
