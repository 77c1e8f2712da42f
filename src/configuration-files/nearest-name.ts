/** Finds the name that a person probably meant, for messages about unknown fields and names. */
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

/** The nearest name, or the only name that begins with the typed text; undefined: neither exists. */
export function meantName(typed: string, names: readonly string[]): string | undefined {
  const starting = typed.length < 2 ? [] : names.filter((name) => name.startsWith(typed));
  return starting.length === 1 ? starting[0] : nearestName(typed, names);
}
