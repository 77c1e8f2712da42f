/**
 * Reads JSON text and remembers the position of each value, so that a fault can be shown with line and column on
 * every version of Node. Used for configuration files and for the node's own config.json.
 */
import { IS_POINTER, LFS_POINTER } from '../files/git-leftovers.js';
import { quoteText } from '../model/words.js';

export interface TextPosition {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units as editors count. */
  readonly column: number;
}

/** The text is not JSON, or is nested too deep. `message` is for a person and holds no position. */
export class JsonTextError extends Error implements TextPosition {
  override readonly name = 'JsonTextError';
  readonly line: number;
  readonly column: number;

  constructor(message: string, { line, column }: TextPosition) {
    super(message);
    this.line = line;
    this.column = column;
  }
}

/** A place in a JSON text. `at`: where the value begins, or its key. */
interface JsonPlace {
  readonly path: readonly PropertyKey[];
  readonly at: 'key' | 'value';
}

export interface JsonText {
  readonly value: unknown;
  /** Finds all these places in one reading of the text. For a missing value: where its parent begins. */
  positionsOf(places: readonly JsonPlace[]): TextPosition[];
}

/** One of several texts, and where it begins in the whole. */
export interface JsonPart {
  readonly text: string;
  readonly at: TextPosition;
}

/** The deepest nesting: far more than any schema of Drover, far less than the stack allows. */
export const MAX_JSON_DEPTH = 64;
/** The most values in a text, so that reading it is short: twice what a configuration can hold. */
export const MAX_JSON_VALUES = 20_000;
/** The most texts in one, which is also the most of one plan. */
const MAX_JSON_PARTS = 10_000;
/** The beginning of a line that git writes where a merge found a conflict. */
const CONFLICT_MARKER = /^\n?((?:<{7}|={7}|>{7}|\|{7})(?: [^\r\n]*)?)\r?(?:\n|$)/;
const MOST_MARKER_CHARS = 256;
const BEGINNING: TextPosition = { line: 1, column: 1 };

interface ReadOptions {
  /** The position of the text in a larger one. */
  readonly at?: TextPosition | undefined;
  /** Default: MAX_JSON_VALUES. */
  readonly mostValues?: number | undefined;
}

/**
 * Reads strict JSON with an optional byte order mark. A key given twice in one object is an error, as are more than
 * `mostValues` values. Throws JsonTextError.
 */
export function readJsonText(source: string, { at = BEGINNING, mostValues }: ReadOptions = {}): JsonText {
  const text = withoutMark(source);
  try {
    checkJsonText(text, mostValues);
  } catch (error) {
    throw error instanceof JsonTextError ? new JsonTextError(error.message, moved(error, at)) : error;
  }
  const value: unknown = JSON.parse(text);
  return { value, positionsOf: (places) => positionsOf(text, places).map((position) => moved(position, at)) };
}

/** Throws the same JsonTextError as `readJsonText`, for a text without a mark, and makes no value. */
export function checkJsonText(text: string, mostValues = MAX_JSON_VALUES): void {
  new JsonScanner(text, mostValues).scan();
}

/**
 * Splits several JSON values that stand one after another, or the items of a lone array, into their texts. Throws
 * JsonTextError, also for more than 10,000 texts.
 */
export function splitJsonTexts(source: string): JsonPart[] {
  const text = withoutMark(source);
  const parts = new JsonScanner(text).split();
  const positions = positionsAt(
    text,
    parts.map(([start]) => start),
  );
  return parts.map(([start, end], index) => ({
    text: text.slice(start, end),
    at: positions[index] ?? BEGINNING,
  }));
}

/** A value with the places of all that it holds, in the order of the text. */
export interface JsonSpan {
  readonly start: number;
  readonly end: number;
  /** Where its key begins; without a key, where the value begins. */
  readonly keyStart: number;
  readonly children: ReadonlyMap<PropertyKey, JsonSpan>;
}

/** Most values have no values in them, and share this map. */
const NO_CHILDREN = new Map<PropertyKey, Span>();

/** The scanner fills in the offsets. */
class Span implements JsonSpan {
  start = 0;
  end = 0;
  keyStart = 0;
  children = NO_CHILDREN;

  /** The span of a value in this one. */
  child(key: PropertyKey): Span {
    const child = new Span();
    if (this.children === NO_CHILDREN) this.children = new Map();
    this.children.set(key, child);
    return child;
  }
}

/** The spans of a text without a mark, which was read before. */
export function spansOf(text: string): JsonSpan {
  const root = new Span();
  new JsonScanner(text, Number.POSITIVE_INFINITY).scan(root);
  return root;
}

export function withoutMark(source: string): string {
  return source.startsWith('\uFEFF') ? source.slice(1) : source;
}

function moved({ line, column }: TextPosition, by: TextPosition): TextPosition {
  return { line: by.line + line - 1, column: line === 1 ? by.column + column - 1 : column };
}

function positionsOf(text: string, places: readonly JsonPlace[]): TextPosition[] {
  if (places.length === 0) return [];
  const root = spansOf(text);
  return positionsAt(
    text,
    places.map(({ path, at }) => offsetOf(root, path, at)),
  );
}

function offsetOf(root: JsonSpan, path: readonly PropertyKey[], at: 'key' | 'value'): number {
  let span = root;
  for (const segment of path) {
    const child = span.children.get(segment);
    if (child === undefined) return span.start;
    span = child;
  }
  return at === 'key' ? span.keyStart : span.start;
}

/** The positions of these offsets, in their order. The text is read once, however many there are. */
function positionsAt(text: string, offsets: readonly number[]): TextPosition[] {
  const found = new Map<number, TextPosition>();
  let line = 1;
  let lineStart = 0;
  let lineEnd = text.indexOf('\n');
  for (const offset of [...offsets].sort((a, b) => a - b)) {
    for (; lineEnd >= 0 && lineEnd < offset; lineEnd = text.indexOf('\n', lineStart)) {
      line++;
      lineStart = lineEnd + 1;
    }
    found.set(offset, { line, column: offset - lineStart + 1 });
  }
  return offsets.map((offset) => found.get(offset) ?? BEGINNING);
}

/** Checks the grammar and notes the positions where they are wanted; JSON.parse makes the values. */
class JsonScanner {
  readonly #text: string;
  readonly #mostValues: number;
  // Sticky patterns carry a position, so each scanner has its own.
  readonly #number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  readonly #literal = /true|false|null/y;
  readonly #escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
  #offset = 0;
  #values = 0;

  constructor(text: string, mostValues = MAX_JSON_VALUES) {
    this.#text = text;
    this.#mostValues = mostValues;
  }

  /** Checks the whole text, and gives every value a span in `root`. */
  scan(root?: Span): void {
    this.#value(0, root);
    this.#skipSpace();
    if (this.#offset < this.#text.length) this.#fail(`expected the end of the text, found ${this.#found()}`);
  }

  /** Start and end of each value, or of each item when the text is one array. */
  split(): (readonly [start: number, end: number])[] {
    const values: [number, number][] = [];
    const take = (): void => {
      this.#skipSpace();
      const start = this.#offset;
      if (values.length === MAX_JSON_PARTS) this.#fail(`more than ${MAX_JSON_PARTS} texts`);
      // Each text is read again on its own, with a limit of its own.
      this.#values = 0;
      this.#value(0);
      values.push([start, this.#offset]);
    };
    if (this.#take('[')) {
      if (!this.#take(']'))
        do take();
        while (this.#more(']'));
      this.#skipSpace();
      if (this.#offset < this.#text.length)
        this.#fail(`expected the end after the list, found ${this.#found()}`);
      return values;
    }
    for (this.#skipSpace(); this.#offset < this.#text.length; this.#skipSpace()) take();
    return values;
  }

  #value(depth: number, span?: Span, keyStart?: number): void {
    this.#skipSpace();
    if (depth > MAX_JSON_DEPTH) this.#fail(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (++this.#values > this.#mostValues) this.#fail(`more than ${this.#mostValues} values`);
    const start = this.#offset;
    const first = this.#text[start];
    if (first === '{') this.#members(depth, span);
    else if (first === '[') this.#items(depth, span);
    else if (first === '"') this.#string();
    else if (!this.#match(this.#literal) && !this.#match(this.#number))
      this.#fail(`expected a value, found ${this.#found()}`);
    if (span === undefined) return;
    span.start = start;
    span.end = this.#offset;
    span.keyStart = keyStart ?? start;
  }

  #members(depth: number, span: Span | undefined): void {
    this.#offset++;
    if (this.#take('}')) return;
    // A text whose spans are wanted was checked before.
    const keys = span === undefined ? new Set<string>() : undefined;
    do {
      this.#skipSpace();
      const keyStart = this.#offset;
      if (this.#text[keyStart] !== '"')
        this.#fail(`expected a field name in double quotes, found ${this.#found()}`);
      const key = this.#string();
      if (keys?.has(key)) this.#fail(`the field ${quoteText(key)} is given twice`, keyStart);
      keys?.add(key);
      if (!this.#take(':')) this.#fail(`expected ":" after the field name, found ${this.#found()}`);
      this.#value(depth + 1, span?.child(key), keyStart);
    } while (this.#more('}'));
  }

  #items(depth: number, span: Span | undefined): void {
    this.#offset++;
    if (this.#take(']')) return;
    let index = 0;
    do this.#value(depth + 1, span?.child(index++));
    while (this.#more(']'));
  }

  /** True after a comma; false after the closing bracket. */
  #more(close: string): boolean {
    if (this.#take(close)) return false;
    const comma = this.#offset;
    if (!this.#take(',')) this.#fail(`expected "," or "${close}", found ${this.#found()}`);
    this.#skipSpace();
    if (this.#text[this.#offset] === close) this.#fail(`no comma is allowed before "${close}"`, comma);
    return true;
  }

  /** Reads a text and returns it. */
  // Use a loop: one expression over a megabyte of text would exhaust the matcher's stack.
  #string(): string {
    const start = this.#offset++;
    let isPlain = true;
    for (;;) {
      const code = this.#text.charCodeAt(this.#offset);
      if (Number.isNaN(code)) this.#fail('a text is not closed with a double quote', start);
      if (code < 0x20) this.#fail('a text must not hold a raw line break or control character (write \\n)');
      if (code === 0x22) break;
      if (code !== 0x5c) {
        this.#offset++;
        continue;
      }
      isPlain = false;
      if (!this.#match(this.#escape)) this.#fail('unknown escape in a text (write \\\\ for a backslash)');
    }
    this.#offset++;
    if (isPlain) return this.#text.slice(start + 1, this.#offset - 1);
    return String(JSON.parse(this.#text.slice(start, this.#offset)));
  }

  #skipSpace(): void {
    while (isSpace(this.#text.charCodeAt(this.#offset))) this.#offset++;
  }

  #take(character: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#offset] !== character) return false;
    this.#offset++;
    return true;
  }

  #match(pattern: RegExp): boolean {
    pattern.lastIndex = this.#offset;
    if (!pattern.test(this.#text)) return false;
    this.#offset = pattern.lastIndex;
    return true;
  }

  #found(): string {
    const character = this.#text[this.#offset];
    if (character === undefined) return 'the end of the text';
    if (character === '/' || character === '#') return 'a comment, which JSON does not allow';
    return character === "'" ? 'a single quote (JSON wants double quotes)' : JSON.stringify(character);
  }

  #fail(fault: string, offset = this.#offset): never {
    const line = this.#text.slice(Math.max(0, offset - 1), offset + MOST_MARKER_CHARS);
    const marker = CONFLICT_MARKER.exec(line)?.[1];
    const message =
      marker === undefined
        ? this.#text.startsWith(LFS_POINTER)
          ? `it ${IS_POINTER}`
          : fault
        : `a conflict of git is left in it: ${quoteText(marker)}, resolve it`;
    throw new JsonTextError(message, positionsAt(this.#text, [offset])[0] ?? BEGINNING);
  }
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
