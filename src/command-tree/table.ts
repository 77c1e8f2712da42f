/** Prints aligned columns without borders, for people. Programs ask for JSON. */
import { setImmediate as nextTurn } from 'node:timers/promises';

import { toPlainText } from '../telemetry/plain-text.js';

/** cli-table3 takes a quarter of a millisecond for a row. After this many rows the event loop gets a turn. */
const ROWS_AT_ONCE = 20;
const GAP = 2;
/** The last column is not cut below this width. */
const LEAST_LAST_COLUMN = 20;
const WIDE_AT_MOST = 2;

const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((part) => [part, '']),
);

export type Cell = string | number | null | undefined;

/**
 * Returns the lines of a table, header first; no header when `head` is empty. A cell that is null, undefined or ''
 * is blank. `columns`: the width of the reader's terminal, to which the last column is cut. Undefined: nothing is
 * cut.
 */
export async function renderTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns?: number,
): Promise<string> {
  const texts = rows.map((row) => row.map(textOf));
  const all = head.length === 0 ? texts : [head, ...texts];
  const colWidths = withinColumns(widthsOf(all), columns);
  // Load the package with the first table: the client's help prints none and starts sooner without it.
  const { default: Table } = await import('cli-table3');
  const lines: string[] = [];
  for (let from = 0; from < all.length; from += ROWS_AT_ONCE) {
    const table = new Table({
      chars: NO_BORDERS,
      style: { head: [], border: [], compact: true, 'padding-left': 0, 'padding-right': GAP },
      colWidths,
    });
    for (const row of all.slice(from, from + ROWS_AT_ONCE)) table.push([...row]);
    for (const line of table.toString().split('\n')) lines.push(line.trimEnd());
    if (from + ROWS_AT_ONCE < all.length) await nextTurn();
  }
  return lines.join('\n');
}

/** Puts a cell on one line without control characters, because an instance may have written it. */
function textOf(cell: Cell): string {
  return cell === null || cell === undefined ? '' : toPlainText(String(cell).replace(/\s+/g, ' '));
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, text] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(text) + GAP);
  return widths;
}

/**
 * Returns the most columns that the text may take, so that the table never cuts it: a character beyond ASCII may
 * take two.
 */
function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) width += character > '\x7e' ? WIDE_AT_MOST : 1;
  return width;
}

function withinColumns(widths: readonly number[], columns: number | undefined): number[] {
  const last = widths.at(-1);
  if (columns === undefined || last === undefined) return [...widths];
  const others = widths.slice(0, -1);
  const left = columns - others.reduce((sum, width) => sum + width, 0);
  return [...others, Math.min(last, Math.max(left + GAP, LEAST_LAST_COLUMN))];
}
