/** Prints aligned columns without borders, for people. Programs ask for JSON. */
import { displayWidth } from '../model/plain/display-width.js';
import { toPlainText } from '../telemetry/plain-text.js';
import { paint, toneOfState } from './tones.js';

const GAP = 2;
/** The room for a last column of sentences. For it, other columns go. */
const LEAST_LAST_COLUMN = 24;
/** The columns that a narrow terminal does without, in this order; columns with nothing but blanks or 0 go before. */
const DISPENSABLE = [
  ...['REVISION', 'RUNTIMES', 'RUNTIME', 'REASON', 'PID', 'BEAT', 'VERSION', 'FILE', 'PORTS', 'TRUST'],
  ...['CPU', 'RAM', 'INSTANCES', 'RESTARTS', 'CONTENT', 'KEY', 'WAITING', 'PROCESSES', 'CPU TIME', 'AGE'],
  ...['ADDRESS', 'NODE'],
];
const STATES: ReadonlySet<string> = new Set(['STATE', 'STATUS', 'CONDITION', 'OUTCOME', 'ROLLOUT']);
export type Cell = string | number | null | undefined;

/** The reader's screen. */
export interface Screen {
  /** Columns of the terminal; undefined: all columns are shown, and nothing is cut. */
  readonly columns?: number | undefined;
  /** True: the text holds the marks of colours. */
  readonly isColoured?: boolean | undefined;
}

/**
 * Returns the lines of a table, header first; no header when `head` is empty. A cell that is null, undefined or ''
 * is blank. On a narrow screen the less important columns go. The last column is whole: who prints it wraps it.
 */
export function renderTable(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  { columns, isColoured = false }: Screen = {},
): string {
  const texts = [...(head.length === 0 ? [] : [head]), ...rows.map((row) => row.map(textOf))];
  const widths = widthsOf(texts);
  const shown = columns === undefined ? [...widths.keys()] : fitting(head, texts, widths, columns);
  return texts
    .map((row, index) => {
      const isHead = head.length > 0 && index === 0;
      return shown
        .map((column) => {
          const text = row[column] ?? '';
          const padding = ' '.repeat((widths[column] ?? 0) - displayWidth(text) + GAP);
          const tone = isColoured && !isHead && STATES.has(head[column] ?? '') && toneOfState(text);
          return (tone ? paint(tone, text) : text) + padding;
        })
        .join('')
        .trimEnd();
    })
    .join('\n');
}

/** Puts a cell on one line without control characters, because an instance may have written it. */
function textOf(cell: Cell): string {
  return cell === null || cell === undefined ? '' : toPlainText(String(cell).replace(/\s+/g, ' '));
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, text] of row.entries())
      widths[column] = Math.max(widths[column] ?? 0, displayWidth(text));
  return widths;
}

/** The columns that a screen has room for. The first one always stays. */
function fitting(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  widths: readonly number[],
  columns: number,
): number[] {
  const isEmpty = (column: number): boolean =>
    rows.length > 1 && rows.slice(1).every((row) => ['', '0', undefined].includes(row[column]));
  const ranked = [
    ...[...head.keys()].filter(isEmpty),
    ...DISPENSABLE.map((name) => head.indexOf(name)).filter((column) => column >= 0),
  ];
  let shown = [...widths.keys()];
  for (const column of ranked) {
    const last = shown.at(-1) ?? 0;
    const needed = shown.slice(0, -1).reduce((sum, one) => sum + (widths[one] ?? 0) + GAP, 0);
    if (needed + Math.min(widths[last] ?? 0, LEAST_LAST_COLUMN) <= columns) break;
    if (column > 0) shown = shown.filter((one) => one !== column);
  }
  return shown;
}
