/** Maps the rows of a grid to entries and heads of groups. Groups may be closed. */
import type { Group } from '../../live/ordered-list.js';
import type { RowSource } from './grid.js';

export type GridRow =
  | { readonly kind: 'group'; readonly group: Group; readonly isClosed: boolean }
  /** `place`: the entry's place in the list. */
  | { readonly kind: 'entry'; readonly place: number };

export class GridRows {
  readonly count: number;
  readonly #heads: readonly { readonly row: number; readonly group: Group; readonly isClosed: boolean }[];

  constructor(entries: number, groups: readonly Group[], closed: ReadonlySet<string>) {
    let row = 0;
    this.#heads = groups.map((group) => {
      const isClosed = closed.has(group.name);
      const head = { row, group, isClosed };
      row += 1 + (isClosed ? 0 : group.count);
      return head;
    });
    this.count = groups.length === 0 ? entries : row;
  }

  at(row: number): GridRow {
    const head = this.#heads.findLast((one) => one.row <= row);
    if (head === undefined) return { kind: 'entry', place: row };
    if (head.row === row) return { kind: 'group', group: head.group, isClosed: head.isClosed };
    return { kind: 'entry', place: head.group.start + row - head.row - 1 };
  }
}

/** Makes the rows of a grid from a plain list, in the order of the list. */
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
