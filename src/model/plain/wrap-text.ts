/** Wraps lines for people at the width of their terminal, between words. */
import { displayWidth } from './display-width.js';

/** A text at a column further right than this share of the width goes on the next line. */
const HANGING_SHARE = 0.67;
/** A line that a person copies as it is: a command, which a break would spoil. */
const COPIED = /^ *drover /;

/**
 * Wraps each line at `width`; a word that is longer stays whole. Further lines stand below the last column of their
 * row: columns have two blanks between them.
 */
export function wrapText(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (displayWidth(line) <= width || COPIED.test(line) ? [line] : wrapLine(line, width)))
    .join('\n');
}

function wrapLine(line: string, width: number): string[] {
  const lead = /^.*\S {2,}(?=\S)/.exec(line)?.[0] ?? '';
  const blanks = /^ */.exec(line)?.[0].length ?? 0;
  const leadWidth = displayWidth(lead);
  if (leadWidth > 0 && leadWidth <= width * HANGING_SHARE)
    return words(line.slice(lead.length), lead, ' '.repeat(leadWidth), width);
  const indent = ' '.repeat(blanks === 0 ? 0 : blanks + 2);
  if (lead === '') return words(line.slice(blanks), ' '.repeat(blanks), indent, width);
  return [lead.trimEnd(), ...words(line.slice(lead.length), '    ', '    ', width)];
}

/** Returns `text` after `first`, and its further lines after `indent`. */
function words(text: string, first: string, indent: string, width: number): string[] {
  const lines: string[] = [];
  let line = first;
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && displayWidth(line) + 1 + displayWidth(word) > width) {
      lines.push(line);
      line = indent;
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
