/** Prints aligned columns without borders, for people. Programs ask for JSON. */
import { cutToColumns, displayWidth } from '../model/plain/display-width.js';
import { toPlainText } from '../telemetry/plain-text.js';
import { paint, toneOfState } from './tones.js';

const GAP = 2;
/** The room for a last column of sentences. For it, other columns go. */
const LEAST_LAST_COLUMN = 24;
/** The columns that a narrow terminal does without, in this order; columns with nothing but blanks or 0 go before. */
const DISPENSABLE = [
  ...['REVISION', 'RUNTIMES', 'RUNTIME', 'REASON', 'PID', 'BEAT', 'VERSION', 'FILE', 'PORTS', 'TRUST'],
  ...['CPU', 'RAM', 'INSTANCES', 'RESTARTS', 'CONTENT', 'KEY', 'WAITING', 'PROCESSES', 'CPU TIME', 'AGE'],
];
const STATES: ReadonlySet<string> = new Set(['STATE', 'STATUS', 'CONDITION', 'OUTCOME', 'ROLLOUT']);
const NARROWEST = 8;
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
  const all = widthsOf(texts);
  const shown = columns === undefined ? [...all.keys()] : fitting(head, texts, all, columns);
  const widths = columns === undefined ? all : narrowed(shown, all, columns);
  return texts
    .map((row, index) => {
      const isHead = head.length > 0 && index === 0;
      return shown
        .map((column, place) => {
          const width = widths[column] ?? 0;
          const whole = row[column] ?? '';
          const isLast = place === shown.length - 1;
          const text = isLast ? whole : cutTo(whole, width);
          const padding = isLast ? '' : ' '.repeat(width - displayWidth(text) + GAP);
          const tone = !isHead && STATES.has(head[column] ?? '') ? toneOfState(text) : undefined;
          return (isColoured && tone !== undefined ? paint(tone, text) : text) + padding;
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

/** The widths with which all columns but the last fit: the widest ones are cut, as far as that helps. */
function narrowed(shown: readonly number[], widths: readonly number[], columns: number): number[] {
  const cut = [...widths];
  const others = shown.slice(0, -1);
  const over = (): number => others.reduce((sum, one) => sum + (cut[one] ?? 0) + GAP, 0) - columns;
  while (over() > 0) {
    const widest = others.reduce((a, b) => ((cut[b] ?? 0) > (cut[a] ?? 0) ? b : a), others[0] ?? 0);
    const width = cut[widest] ?? 0;
    if (width <= NARROWEST) break;
    cut[widest] = Math.max(NARROWEST, width - over());
  }
  return cut;
}

function cutTo(text: string, width: number): string {
  return displayWidth(text) <= width ? text : `${cutToColumns(text, width - 1)}…`;
}
