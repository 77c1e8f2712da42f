/**
 * Finds a fixed text in lines. The time follows the length of the line: `indexOf` compares a long text at every place
 * of a line that an instance wrote for it, which takes a thousand times as long.
 */

/** So few comparisons at each place that `indexOf`, which is fast for usual lines, stays within a linear time. */
const LONGEST_COMPARED = 16;

/** Makes the search for `wanted`: where it begins in a line, from `from` on; -1: nowhere. */
export function textFinder(wanted: string): (line: string, from: number) => number {
  if (wanted.length <= LONGEST_COMPARED) return (line, from) => line.indexOf(wanted, from);
  const borders = bordersOf(wanted);
  return (line, from) => {
    let matched = 0;
    for (let at = from; at < line.length; at++) {
      matched = extend(wanted, borders, matched, line.charCodeAt(at));
      if (matched === wanted.length) return at + 1 - matched;
    }
    return -1;
  };
}

/** By length of a beginning of `text`: the longest shorter one that it ends with. As Knuth, Morris and Pratt have it. */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1);
  for (let at = 1, matched = 0; at < text.length; at++) {
    matched = extend(text, borders, matched, text.charCodeAt(at));
    borders[at + 1] = matched;
  }
  return borders;
}

/** How much of `text` a line ends with after one more character, when it ended with `matched` of it before. */
function extend(text: string, borders: Uint32Array, matched: number, char: number): number {
  let length = matched;
  while (length > 0 && text.charCodeAt(length) !== char) length = borders[length] ?? 0;
  return text.charCodeAt(length) === char ? length + 1 : length;
}
