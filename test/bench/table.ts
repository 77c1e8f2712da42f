/** One measured figure beside its baseline of the same run, and the table of all. */
import type { Plot } from './report/plot.js';

export interface Row {
  readonly figure: string;
  /** Begins with the number that counts, then its unit; a ratio to the baseline as `0.96 x`. */
  readonly value: string;
  /** Its number comes first, or after `: `. */
  readonly baseline: string;
  readonly target: string;
  readonly ok: boolean;
  /** Names the row in later runs where the words of its figure change. Default: the figure. */
  readonly id?: string;
  /** The points behind the figure, for `docs/performance.md`. */
  readonly plot?: Plot;
}

/** Prints the rows, widest column first; a missed target is marked and never fails the run. */
export function printTable(rows: readonly Row[]): void {
  printColumns([
    ['', 'figure', 'measured', 'baseline (same run)', 'target'],
    ...rows.map(({ ok, figure, value, baseline, target }) => [
      ok ? 'ok' : 'MISS',
      figure,
      value,
      baseline,
      target,
    ]),
  ]);
}

export function printColumns(lines: readonly (readonly string[])[]): void {
  const columns = Math.max(...lines.map((cells) => cells.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((cells) => cells[column]?.length ?? 0)),
  );
  for (const cells of lines)
    console.log(
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
