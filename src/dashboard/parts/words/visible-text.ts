/** Text of others, with the characters made visible that a terminal or browser would obey instead of show. Pure. */

/** Control characters other than tab and line feed, and the marks that turn the direction of text. */
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Writes hidden characters as codes: `\x1b` for an escape, `\u202e` for a right-to-left override. A line end with a
 * carriage return stays a line end.
 */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
