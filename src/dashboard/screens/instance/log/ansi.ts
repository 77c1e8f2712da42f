/**
 * Turns a line of a log into pieces of text with classes, from the colours and weights of terminal sequences. Other
 * sequences are taken out and control characters become visible, so that a line is only ever text. Only colours appear
 * that are legible in both themes. A line begins plain, whatever the line before it has set.
 *
 * The packages for this (anser, ansi_up, fancy-ansi) leave titles, links and 8-bit sequences in the text, have fixed
 * colours, and are larger.
 */
import { visibleText } from '../../../parts/words/visible-text.js';

interface Span {
  readonly text: string;
  /** The CSS classes; empty: plain. */
  readonly classes: string;
}

/** A CSS class: the colours that the page has anyway, and three more. */
type Colour = `tone-${'bad' | 'good' | 'busy' | 'still'}` | `ansi-${'blue' | 'magenta' | 'cyan'}`;

interface Style {
  readonly ink: Colour | null;
  readonly ground: Colour | null;
  readonly marks: ReadonlySet<Mark>;
}

type Mark = 'bold' | 'dim' | 'italic' | 'underline' | 'inverse' | 'strike';

const PLAIN: Style = { ink: null, ground: null, marks: new Set() };
/**
 * Matches terminal sequences: strings such as titles and links, then sequences with parameters, then those of two
 * characters.
 */
const SEQUENCE =
  /(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c|$)|(?:\x1b\[|\x9b)([0-?]*)[ -/]*([@-~])?|\x1b[ -/]*[0-~]?/g;
/** The marks by the code that turns each on. */
const MARKS: Readonly<Record<number, Mark>> = {
  ...{ 1: 'bold', 2: 'dim', 3: 'italic', 4: 'underline', 7: 'inverse', 9: 'strike' },
};
/** The marks that each code turns off. */
const ENDS: Readonly<Record<number, readonly Mark[]>> = {
  ...{ 22: ['bold', 'dim'], 23: ['italic'], 24: ['underline'], 27: ['inverse'], 29: ['strike'] },
};
/**
 * The eight base colours. Black and white are null, the ink of the theme: on one of the two grounds they could not be
 * read.
 */
const BASE: readonly (Colour | null)[] = [
  null,
  'tone-bad',
  'tone-good',
  'tone-busy',
  'ansi-blue',
  'ansi-magenta',
  'ansi-cyan',
  null,
];
const GREY_FROM = 232;
const CUBE_FROM = 16;

/** The pieces of one line, in order; an empty line has none. */
export function spansOf(line: string): Span[] {
  if (visibleText(line) === line) return line === '' ? [] : [{ text: line, classes: '' }];
  const text = lastWritten(line);
  const spans: Span[] = [];
  let style = PLAIN;
  let from = 0;
  const add = (to: number): void => {
    const piece = visibleText(text.slice(from, to));
    if (piece !== '') spans.push({ text: piece, classes: classesOf(style) });
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    from = match.index + match[0].length;
    const [, parameters = '', end] = match;
    if (end === 'm') style = styled(style, parameters);
  }
  add(text.length);
  return spans;
}

/** Returns the line without terminal sequences, for copies. */
export function plainOf(line: string): string {
  return spansOf(line)
    .map(({ text }) => text)
    .join('');
}

/**
 * Returns the text after the last carriage return, which starts the line again. A progress bar then shows its last
 * state.
 */
function lastWritten(line: string): string {
  const parts = line.split('\r').filter((part) => part !== '');
  return parts.at(-1) ?? '';
}

function styled(style: Style, parameters: string): Style {
  const codes = parameters.split(/[;:]/).map(Number);
  let { ink, ground } = style;
  const marks = new Set(style.marks);
  for (let place = 0; place < codes.length; place++) {
    const code = codes[place] ?? 0;
    if (code === 0) {
      ink = ground = null;
      marks.clear();
    } else if (code === 38 || code === 48) {
      const { colour, used } = chosenColour(codes.slice(place + 1));
      if (code === 38) ink = colour;
      else ground = colour;
      place += used;
    } else if (code >= 30 && code <= 37) ink = BASE[code - 30] ?? null;
    else if (code === 39) ink = null;
    else if (code >= 40 && code <= 47) ground = BASE[code - 40] ?? null;
    else if (code === 49) ground = null;
    else if (code >= 90 && code <= 97) ink = bright(code - 90);
    else if (code >= 100 && code <= 107) ground = bright(code - 100);
    else {
      const mark = MARKS[code];
      if (mark !== undefined) marks.add(mark);
      for (const ended of ENDS[code] ?? []) marks.delete(ended);
    }
  }
  return { ink, ground, marks };
}

function bright(index: number): Colour | null {
  return index === 0 ? 'tone-still' : (BASE[index] ?? null);
}

/** Reads `5;n` or `2;r;g;b` behind 38 or 48. `used`: how many numbers it has taken. */
function chosenColour(codes: readonly number[]): { readonly colour: Colour | null; readonly used: number } {
  const [kind, ...rest] = codes;
  if (kind === 5) return { colour: paletteColour(rest[0] ?? 0), used: 2 };
  if (kind === 2) return { colour: nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), used: 4 };
  return { colour: null, used: 1 };
}

function paletteColour(index: number): Colour | null {
  if (index >= GREY_FROM) return index < 250 ? 'tone-still' : null;
  if (index < 8) return BASE[index] ?? null;
  if (index < CUBE_FROM) return bright(index - 8);
  const cube = index - CUBE_FROM;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): Colour | null {
  const most = Math.max(red, green, blue);
  const range = most - Math.min(red, green, blue);
  if (range < 40) return most > 60 && most < 200 ? 'tone-still' : null;
  const hue = (hueOf(red, green, blue, most, range) + 360) % 360;
  if (hue < 20 || hue >= 330) return 'tone-bad';
  if (hue < 70) return 'tone-busy';
  if (hue < 165) return 'tone-good';
  if (hue < 195) return 'ansi-cyan';
  return hue < 260 ? 'ansi-blue' : 'ansi-magenta';
}

function hueOf(red: number, green: number, blue: number, most: number, range: number): number {
  if (most === red) return (60 * (green - blue)) / range;
  return most === green ? 120 + (60 * (blue - red)) / range : 240 + (60 * (red - green)) / range;
}

function classesOf({ ink, ground, marks }: Style): string {
  const isInverse = marks.has('inverse');
  const [front, back] = isInverse ? [ground, ink] : [ink, ground];
  const classes = [...marks].filter((mark) => mark !== 'inverse').map((mark) => `ansi-${mark}`);
  if (back !== null) classes.push('ansi-on', back);
  else if (isInverse) classes.push('ansi-inverse');
  // On a coloured ground, keep the theme's own ink: no other colour is sure to be legible there.
  else if (front !== null) classes.push(front);
  return classes.join(' ');
}
