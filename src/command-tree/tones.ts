/**
 * Colours of text for people. A text that is made for a coloured terminal holds marks, which no plain text has; the
 * client turns them into colours after it has removed all control characters.
 */

/** The colours of a terminal, by what they mean. */
const CODES = { bad: 31, good: 32, warn: 33, name: 36, quiet: 90 } as const;
export type Tone = keyof typeof CODES;

/** Characters that Unicode keeps out of texts: one begins each tone, and the last one ends all. */
const FIRST_MARK = 0xfdd0;
const END = '\ufdef';
const MARKED = /([\ufdd0-\ufdd4])([^\ufdd0-\ufdef]*)\ufdef/g;
const MARKS = /[\ufdd0-\ufdef]/g;
const TONES = Object.keys(CODES) as readonly Tone[];

/** The words of states, from worst to best. */
const WORDS: readonly (readonly [Tone, RegExp])[] = [
  ['bad', /broken|crash|fail|not placed|lost|below|rejected|conflict|expired|unreadable/i],
  [
    'warn',
    /rolling|held|pending|start|stopping|drain|cordon|wait|pause|warning|outdated|overridden|shadowed/i,
  ],
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

export function withoutMarks(text: string): string {
  return text.replace(MARKS, '');
}

/** Turns the marks into colours. */
export function colourMarks(text: string): string {
  return withoutMarks(
    text.replace(MARKED, (_all, mark: string, marked: string) => {
      const tone = TONES[mark.charCodeAt(0) - FIRST_MARK];
      return tone === undefined ? marked : ansi(CODES[tone], marked);
    }),
  );
}

/** `text` in a colour of the terminal. `code`: a number of SGR. */
export function ansi(code: number, text: string): string {
  return `\x1b[${code}m${text}\x1b[0m`;
}
