/** Turns a line that a program wrote for a terminal into plain text. */

/**
 * OSC, DCS, SOS, PM and APC strings, which end at BEL, ST or the end of the line. A string may not contain the start of
 * another, which keeps the match linear for hostile input.
 */
const CONTROL_STRING =
  /(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x90\x98\x9c-\x9f]*(?:\x07|\x1b\\|\x9c|$)/g;
/**
 * Colours, cursor movements and the like. stripVTControlCharacters of node:util is not used: in newer versions of
 * Node.js it takes quadratic time for sequences without an end.
 */
const SEQUENCE = /[\x1b\x9b][[\]()#;?]*(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PR-TZcf-ntqry=><~]/g;
/**
 * The other control characters (C0 and C1), except the tab; and the marks that turn the direction of text, which could
 * show a name or a path as another one.
 */
const CONTROL = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const ANY_CONTROL = new RegExp(CONTROL.source);

/** `line` without escape sequences and control characters, in time linear in its length. */
export function toPlainText(line: string): string {
  // Most lines have no control character, and a single test is faster than three replacements.
  if (!ANY_CONTROL.test(line)) return line;
  return line.replace(CONTROL_STRING, '').replace(SEQUENCE, '').replace(CONTROL, '');
}
