/** Lists: their columns, their orders, and the options that choose among their rows. */
import { type Command, Option } from 'commander';
import { tableOf, type View } from './command.js';
import type { Cell, Screen } from './table.js';

/** The columns of a table. A key is a header; its function makes the cell of a row. */
export type Columns<Row> = Readonly<Record<string, (row: Row, now: number) => Cell>>;

/** Makes the cells of the rows by `columns`, and returns their table as `tableOf` does. */
export function listOf<Row>(
  view: Screen & Pick<View, 'now'>,
  columns: Columns<Row>,
  rows: readonly Row[],
  none: string,
): string {
  const cells = rows.map((row) => Object.values(columns).map((cellOf) => cellOf(row, view.now)));
  return tableOf(view, Object.keys(columns), cells, none);
}

/** How a list can be sorted, by the value of `--sort`: the key of a row. The first is the order of tables. */
export type Orders<Row> = Readonly<Record<string, (row: Row) => string | number>>;

export interface ListOptions {
  readonly sort?: string;
  readonly state?: string;
}

export function declareList<Row>(command: Command, orders: Orders<Row>, states: readonly string[]): Command {
  const names = Object.keys(orders);
  return command
    .addOption(new Option('--sort <by>', `the order of the table; default ${names[0]}`).choices(names))
    .addOption(new Option('--state <state>', 'only those').choices(states));
}

/** Sorts rows, by the first order when none is given. Equal rows keep their order. */
export function sortedBy<Row>(
  rows: readonly Row[],
  orders: Orders<Row>,
  by: string | undefined,
): readonly Row[] {
  const keyOf = orders[by ?? Object.keys(orders)[0] ?? ''] ?? (() => 0);
  return rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0));
}
