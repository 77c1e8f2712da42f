/**
 * Colours of text for people. A text that is made for a coloured terminal holds marks, which no plain text has; the
 * client turns them into colours after it has removed all control characters.
 */

const TONES = ['bad', 'good', 'warn', 'name', 'quiet'] as const;
/** The colours of a terminal, by tone. */
const CODES = [31, 32, 33, 36, 90];
type Tone = (typeof TONES)[number];

/** Characters that Unicode keeps out of texts: one begins each tone, and the last one ends all. */
const FIRST_MARK = 0xfdd0;
const END = '\ufdef';
const MARKS = /[\ufdd0-\ufdef]/g;

/** The words of states, from worst to best. */
const WORDS: readonly (readonly [Tone, RegExp])[] = [
  ['bad', /broken|crash|fail|timed out|not placed|lost|below|rejected|conflict|expired|unreadable/i],
  ['warn', /rolling|held|pending|start|stopping|drain|cordon|wait|pause|warning|outdated|overrid|shadow/i],
  ['good', /online|healthy|connected|complete|good|^ok|in force/i],
  ['quiet', /stopped|finished|superseded/i],
];

/** `text` with the marks of a tone. */
export function paint(tone: Tone, text: string): string {
  return text === '' ? '' : `${String.fromCharCode(FIRST_MARK + TONES.indexOf(tone))}${text}${END}`;
}

/** The tone of a state's word; undefined: it has none. */
export function toneOfState(state: string): Tone | undefined {
  return WORDS.find(([, words]) => words.test(state))?.[0];
}

/** Turns the marks into colours, or removes them. */
export function settleMarks(text: string, isColoured: boolean): string {
  return text.replace(MARKS, (mark) =>
    isColoured ? `\x1b[${CODES[mark.charCodeAt(0) - FIRST_MARK] ?? 0}m` : '',
  );
}
