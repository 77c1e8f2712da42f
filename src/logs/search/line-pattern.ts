/**
 * A pattern for log lines, used by readiness and searches: literal text anywhere in the line, in which `*` stands for
 * any characters. It is no regular expression, so that a line takes time in proportion to its length, whatever an
 * instance prints.
 */
import { toPlainText } from '../../telemetry/plain-text.js';

/**
 * How many characters of a line readiness looks at, from its beginning and from its last carriage return. Longer lines
 * are data, and the pattern is short.
 */
const LOOKED_AT_CHARS = 8192;

interface LinePatternOptions {
  /** True: upper and lower case are the same. Default false. */
  readonly ignoreCase?: boolean;
  /** How many characters of a line are looked at. Default 8192. */
  readonly mostChars?: number;
}

/** Makes the test for a pattern. Escape sequences in a line are ignored. */
export function linePattern(
  pattern: string,
  { ignoreCase = false, mostChars = LOOKED_AT_CHARS }: LinePatternOptions = {},
): (line: string) => boolean {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const parts = fold(pattern)
    .split('*')
    .filter((part) => part !== '')
    .map((part) => ({ length: part.length, find: textFinder(part) }));
  const holds = (part: string): boolean => {
    const text = fold(toPlainText(part.slice(0, mostChars)));
    let from = 0;
    return parts.every(({ length, find }) => {
      const found = find(text, from);
      from = found + length;
      return found >= 0;
    });
  };
  return (line) => holds(line) || (line.length > mostChars && holds(shownPart(line)));
}

/** The part of a line that a terminal shows in the end: what stands after the last return, as behind a progress bar. */
function shownPart(line: string): string {
  const text = line.replace(/\r+$/, '');
  return text.slice(text.lastIndexOf('\r') + 1);
}

/**
 * The longest text for which `indexOf` is used: it is fast for usual lines, and needs few comparisons at each place.
 */
const LONGEST_COMPARED = 16;

/** Makes the search for `wanted`. It returns the first index in a line at or after `from`; -1: not found. */
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

/**
 * The table of Knuth, Morris and Pratt: for each prefix of `text`, the length of the longest shorter prefix that it
 * ends with.
 */
function bordersOf(text: string): Uint32Array {
  const borders = new Uint32Array(text.length + 1);
  for (let at = 1, matched = 0; at < text.length; at++) {
    matched = extend(text, borders, matched, text.charCodeAt(at));
    borders[at + 1] = matched;
  }
  return borders;
}

/** How long a prefix of `text` ends the line after one more character. `matched`: the length before that character. */
function extend(text: string, borders: Uint32Array, matched: number, char: number): number {
  let length = matched;
  while (length > 0 && text.charCodeAt(length) !== char) length = borders[length] ?? 0;
  return text.charCodeAt(length) === char ? length + 1 : length;
}
