/** Finds the name that a person probably meant, for messages about unknown fields. */
import leven from 'leven';

/** The name of `names` within two edits of `typed` (letter case aside), or undefined. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > 64) return undefined;
  const scored = names
    .map((name) => ({ name, distance: leven(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(2, Math.floor(name.length / 2)))
    .sort((a, b) => a.distance - b.distance);
  return scored[0]?.name;
}
