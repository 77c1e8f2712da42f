/**
 * The pattern of the log line that tells readiness: literal text, in which `*` stands for any characters, anywhere
 * in the line. It is no regular expression: a line takes time in proportion to its length, whatever an instance
 * prints.
 */
import { toPlainText } from '../../telemetry/plain-text.js';

/** How much of a line is searched. Longer lines are data, and the pattern is short. */
const LOOKED_AT_CHARS = 8192;

/** Makes the test of a pattern; escape sequences in a line do not count. */
export function linePattern(pattern: string): (line: string) => boolean {
  const parts = pattern.split('*').filter((part) => part !== '');
  return (line) => {
    const text = toPlainText(line.slice(0, LOOKED_AT_CHARS));
    let from = 0;
    return parts.every((part) => {
      const found = text.indexOf(part, from);
      from = found + part.length;
      return found >= 0;
    });
  };
}
