/**
 * A pattern for log lines, as readiness and searches have it: literal text, in which `*` stands for any characters,
 * anywhere in the line. It is no regular expression: a line takes time in proportion to its length, whatever an instance
 * prints.
 */
import { toPlainText } from '../../telemetry/plain-text.js';
import { textFinder } from './find-text.js';

/** How much of a line is looked at for readiness. Longer lines are data, and the pattern is short. */
const LOOKED_AT_CHARS = 8192;

export interface LinePatternOptions {
  /** Default false. */
  readonly ignoreCase?: boolean;
  /** How much of a line is looked at. Default 8192 characters. */
  readonly mostChars?: number;
}

/** Makes the test of a pattern; escape sequences in a line do not count. */
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
