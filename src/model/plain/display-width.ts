/** How many columns of a terminal text takes. */

/** Combining marks, invisible characters, and the marks of colours, which Unicode keeps out of texts. */
const NO_COLUMN = /\p{Mn}|\p{Me}|\p{Cf}|[\ufdd0-\ufdef]/u;
/** The characters of East Asia, and most emoji. */
const TWO_COLUMNS =
  /[\u1100-\u115f\u2e80-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6]|[\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;

export function displayWidth(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += NO_COLUMN.test(character) ? 0 : TWO_COLUMNS.test(character) ? 2 : 1;
  return width;
}
