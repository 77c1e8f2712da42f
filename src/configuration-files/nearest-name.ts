/** Finds the name that a person probably meant, for messages about unknown fields and names. */
import leven from 'leven';

/** The name of `names` within two edits of `typed` (letter case aside), or undefined. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > 64) return undefined;
  const most = (name: string): number => Math.min(2, Math.floor(name.length / 2));
  const scored = names
    // Compare no letters where the lengths alone differ too much: a plan may have thousands of unknown fields.
    .filter((name) => Math.abs(name.length - typed.length) <= most(name))
    .map((name) => ({ name, distance: leven(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= most(name))
    .sort((a, b) => a.distance - b.distance);
  return scored[0]?.name;
}

/** The nearest name, or the only name that begins with the typed text; undefined: neither exists. */
export function meantName(typed: string, names: readonly string[]): string | undefined {
  const starting = typed.length < 2 ? [] : names.filter((name) => name.startsWith(typed));
  return starting.length === 1 ? starting[0] : nearestName(typed, names);
}
