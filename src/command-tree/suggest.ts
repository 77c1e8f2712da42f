/** Suggests the name that was probably meant. */
import { nearestName } from '../configuration-files/nearest-name.js';

/** Returns the end of a message about an unknown name: the nearest name, or the command that lists all names. */
export function suggest(typed: string, names: readonly string[], listCommand: string): string {
  const nearest = startingWith(typed, names) ?? nearestName(typed, names);
  return nearest === undefined ? `: "${listCommand}" shows all` : `. Did you mean ${nearest}?`;
}

/** The only name that begins with the typed text; undefined when there is none, or more than one. */
function startingWith(typed: string, names: readonly string[]): string | undefined {
  if (typed.length < 2) return undefined;
  const starting = names.filter((name) => name.startsWith(typed));
  return starting.length === 1 ? starting[0] : undefined;
}
