/** One measured figure beside its baseline of the same run, and the table of all. */

export interface Row {
  readonly figure: string;
  readonly value: string;
  readonly baseline: string;
  readonly target: string;
  readonly ok: boolean;
}

/** Prints the rows, widest column first; a missed target is marked and never fails the run. */
export function printTable(rows: readonly Row[]): void {
  const cells = [
    ['', 'figure', 'measured', 'baseline (same run)', 'target'],
    ...rows.map(({ ok, figure, value, baseline, target }) => [
      ok ? 'ok' : 'MISS',
      figure,
      value,
      baseline,
      target,
    ]),
  ];
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  for (const row of cells)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
}
