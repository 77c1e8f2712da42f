/** Text that others have written, with what a terminal or browser would obey instead of show made visible. Pure. */

/** Controls but tab and line feed, and the marks that turn the direction of text. */
const HIDDEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** `\x1b[31m` stands for an escape sequence, `\u202e` for a right-to-left override. Line ends with a return stay line ends. */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(HIDDEN, (character) => {
    const code = character.charCodeAt(0);
    return code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`;
  });
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
