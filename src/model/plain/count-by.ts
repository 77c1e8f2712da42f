/** Counts things by a key, for summaries. */

/** Counts the items of each key, in the order of the keys. */
export function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const found = new Map<string, number>();
  for (const item of items) found.set(keyOf(item), (found.get(keyOf(item)) ?? 0) + 1);
  return Object.fromEntries([...found].sort());
}
