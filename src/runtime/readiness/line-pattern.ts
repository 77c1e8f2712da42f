/**
 * The pattern of a log line that an instance is ready with: literal text, in which `*` stands for any characters,
 * found anywhere in the line. No regular expression: whatever an instance prints, a line takes time in proportion to
 * its length.
 */
import { toPlainText } from '../../telemetry/plain-text.js';

/** What is looked at of a line. Longer ones are data, and the pattern is short. */
const LOOKED_AT_CHARS = 8192;

/** The test that a pattern stands for; escape sequences in a line do not count. */
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
