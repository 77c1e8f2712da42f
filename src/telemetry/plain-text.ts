/** Turns a line that a program wrote for a terminal into plain text. */

/**
 * OSC, DCS, SOS, PM and APC strings, ended by BEL, ST or the end of the line. None may contain the start of another:
 * that keeps the match linear for hostile input.
 */
const CONTROL_STRING =
  /(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c|$)/g;
/**
 * Colours, cursor movements and the like. Not stripVTControlCharacters of node:util: in newer versions of Node.js it
 * takes quadratic time for sequences that have no end.
 */
const SEQUENCE = /[\x1b\x9b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]/g;
/** The remaining control characters (C0 and C1); a tab is text. */
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/g;

const ANY_CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f]/;

/** `line` without escape sequences and control characters. Linear in its length. */
export function toPlainText(line: string): string {
  // Most lines have nothing of it, and one look is faster than three.
  if (!ANY_CONTROL.test(line)) return line;
  return line.replace(CONTROL_STRING, '').replace(SEQUENCE, '').replace(CONTROL, '');
}
