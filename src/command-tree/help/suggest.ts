/** Suggests the name that was probably meant. */
import { meantName } from '../../configuration-files/nearest-name.js';

/** Returns the end of a message about an unknown name: the nearest name, or the command that lists all names. */
export function suggest(typed: string, names: readonly string[], listCommand: string): string {
  const meant = meantName(typed, names);
  return meant === undefined ? `: "${listCommand}" shows all` : `. Did you mean ${meant}?`;
}
