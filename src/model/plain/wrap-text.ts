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
  const lead = /^.*\S {2,}(?=\S)|^ */.exec(line)?.[0] ?? '';
  const hasRoom = displayWidth(lead) <= width * HANGING_SHARE;
  const indent = hasRoom ? displayWidth(lead) : 4;
  const part = new RegExp(`\\S.{0,${Math.max(0, width - indent - 1)}}(?= |$)|\\S+`, 'g');
  const parts = line.slice(lead.length).match(part) ?? [];
  const lines = parts.map((words) => ' '.repeat(indent) + words);
  return hasRoom ? [lead + (parts[0] ?? ''), ...lines.slice(1)] : [lead.trimEnd(), ...lines];
}
