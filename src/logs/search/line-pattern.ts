/**
 * A pattern for log lines, used by readiness and searches: literal text anywhere in the line, in which `*` stands for
 * any characters. It is no regular expression, so that a line takes time in proportion to its length, whatever an
 * instance prints.
 */
import { toPlainText } from '../../telemetry/plain-text.js';
import { textFinder } from './find-text.js';

/** How many characters of a line readiness looks at. Longer lines are data, and the pattern is short. */
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
  return (line) => {
    const text = fold(toPlainText(line.slice(0, mostChars)));
    let from = 0;
    return parts.every(({ length, find }) => {
      const found = find(text, from);
      from = found + length;
      return found >= 0;
    });
  };
}
