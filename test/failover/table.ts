/** The times of all trials, as `docs/several-masters.md` has them. */

interface Line {
  readonly what: string;
  readonly gapsMs: readonly number[];
}

export function tableOf(lines: readonly Line[]): string {
  return [
    '| what fails | trials | p50 | p99 | max |',
    '|---|---|---|---|---|',
    ...lines.map(({ what, gapsMs }) => {
      const sorted = gapsMs.toSorted((a, b) => a - b);
      const cells = [sorted.length, ...[0.5, 0.99, 1].map((share) => seconds(quantile(sorted, share)))];
      return `| ${what} | ${cells.join(' | ')} |`;
    }),
  ].join('\n');
}

/** The smallest value that so large a share of all does not exceed. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
