/** Judges whether a figure that was sampled over time levels off, or goes on growing. Pure. */

interface Sample {
  readonly atMs: number;
  readonly value: number;
}

interface Course {
  /** Mean of the later half. */
  readonly mean: number;
  /** How far the line of least squares through the later half rises from its begin to its end; negative: it falls. */
  readonly rise: number;
  readonly isLevel: boolean;
}

/** Share of the mean; what a heap swings by from one collection to the next is more than that, a line through many is not. */
const MOST_RISE = 0.05;

/**
 * The first half fills caches, pools and files to their bounds, so only the later half counts. The figure is level when
 * the line through its samples rises by at most 5 % of their mean, or by `floor`, where that is more.
 */
export function courseOf(samples: readonly Sample[], floor: number): Course {
  const later = samples.slice(Math.floor(samples.length / 2));
  const mean = meanOf(later.map(({ value }) => value));
  const meanAt = meanOf(later.map(({ atMs }) => atMs));
  const spread = sumOf(later.map(({ atMs }) => (atMs - meanAt) ** 2));
  const slope =
    spread === 0 ? 0 : sumOf(later.map(({ atMs, value }) => (atMs - meanAt) * (value - mean))) / spread;
  const rise = slope * ((later.at(-1)?.atMs ?? 0) - (later[0]?.atMs ?? 0));
  return { mean, rise, isLevel: rise <= Math.max(MOST_RISE * mean, floor) };
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}
