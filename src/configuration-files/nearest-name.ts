/** Finds the name that somebody probably meant, for messages about unknown fields. */

/** The name of `names` within two edits of `typed` (letter case aside), or undefined. */
export function nearestName(typed: string, names: readonly string[]): string | undefined {
  if (typed.length > 64) return undefined;
  const scored = names
    .map((name) => ({ name, distance: editDistance(typed.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, distance }) => distance <= Math.min(2, Math.floor(name.length / 2)))
    .sort((a, b) => a.distance - b.distance);
  return scored[0]?.name;
}

/** Levenshtein distance, row by row. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const above = row[column] ?? 0;
      const diagonal = row[column - 1] ?? 0;
      const left = next[column - 1] ?? 0;
      next.push(Math.min(above + 1, left + 1, diagonal + (character === to[column - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
