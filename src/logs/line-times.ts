/** The times at which lines of a log were written, and their form for people and programs. */

/**
 * Times as runs of lines in the order of the log. A run is the number of its first line, and the Unix second in which
 * its lines were finished in the log. Null: unknown.
 */
export type LineTimes = readonly (readonly [line: number, second: number | null])[];

/** The part of `times` for the lines from `from` to `to`. Its first run begins at `from`. */
export function timesWithin(times: LineTimes, from: number, to: number): LineTimes {
  if (to < from) return [];
  const before = times.findLast(([line]) => line <= from);
  const within = times.filter(([line]) => line > from && line <= to);
  return [[from, before?.[1] ?? null], ...within];
}

/** The time of each of `count` lines from number `from` on: `2026-01-31T12:00:41Z`, or null. */
export function timestampsOf(times: LineTimes, from: number, count: number): (string | null)[] {
  const runs = timesWithin(times, from, from + count - 1);
  return runs.flatMap(([line, second], index) => {
    const end = runs[index + 1]?.[0] ?? from + count;
    const stamp = second === null ? null : `${new Date(second * 1000).toISOString().slice(0, 19)}Z`;
    return Array<string | null>(end - line).fill(stamp);
  });
}
