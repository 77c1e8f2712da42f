/**
 * Reads JSON text and remembers the position of each value, so that a fault can be shown with line and column on
 * every version of Node. Used for configuration files and for the node's own config.json.
 */

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

export interface JsonText {
  readonly value: unknown;
  /** The position where the value at `path` begins, or its key. For a missing value: where its parent begins. */
  positionOf(path: readonly PropertyKey[], at?: 'key' | 'value'): TextPosition;
}

/** The deepest nesting: far more than any schema of Drover, far less than the stack allows. */
export const MAX_JSON_DEPTH = 64;

interface Place {
  readonly start: number;
  readonly keyStart: number;
  readonly children: Map<PropertyKey, Place>;
}

/**
 * Reads strict JSON with an optional byte order mark. A key given twice in one object is an error. Throws
 * JsonTextError.
 */
export function readJsonText(source: string): JsonText {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const root = new JsonScanner(text).scan();
  const value: unknown = JSON.parse(text);
  return { value, positionOf: (path, at = 'value') => positionAt(text, offsetOf(root, path, at)) };
}

/**
 * Splits several JSON values that stand one after another, or the items of a lone array, into their texts. Blanks
 * before each text keep its line and column. Throws JsonTextError.
 */
export function splitJsonTexts(source: string): string[] {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  return new JsonScanner(text).split().map(([start, end]) => {
    const { line, column } = positionAt(text, start);
    return `${'\n'.repeat(line - 1)}${' '.repeat(column - 1)}${text.slice(start, end)}`;
  });
}

function offsetOf(root: Place, path: readonly PropertyKey[], at: 'key' | 'value'): number {
  let place = root;
  for (const segment of path) {
    const child = place.children.get(segment);
    if (child === undefined) return place.start;
    place = child;
  }
  return at === 'key' ? place.keyStart : place.start;
}

function positionAt(text: string, offset: number): TextPosition {
  const before = text.slice(0, offset);
  const lastBreak = before.lastIndexOf('\n');
  return { line: before.split('\n').length, column: offset - lastBreak };
}

/** Checks the grammar and notes the positions; JSON.parse makes the values. */
class JsonScanner {
  readonly #text: string;
  // Sticky patterns carry a position, so each scanner has its own.
  readonly #space = /[ \t\n\r]*/y;
  readonly #number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  readonly #literal = /true|false|null/y;
  readonly #escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
  #offset = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): Place {
    const root = this.#value(0);
    this.#skipSpace();
    if (this.#offset < this.#text.length) this.#fail(`expected the end of the file, found ${this.#found()}`);
    return root;
  }

  /** Start and end of each value, or of each item when the text is one array. */
  split(): (readonly [start: number, end: number])[] {
    const values: [number, number][] = [];
    const take = (): void => {
      this.#skipSpace();
      const start = this.#offset;
      this.#value(0);
      values.push([start, this.#offset]);
    };
    if (this.#take('[')) {
      if (!this.#take(']')) {
        do take();
        while (this.#more(']'));
      }
      this.#skipSpace();
      if (this.#offset < this.#text.length)
        this.#fail(`expected the end after the list, found ${this.#found()}`);
      return values;
    }
    for (this.#skipSpace(); this.#offset < this.#text.length; this.#skipSpace()) take();
    return values;
  }

  #value(depth: number, keyStart?: number): Place {
    this.#skipSpace();
    if (depth > MAX_JSON_DEPTH) this.#fail(`nested deeper than ${MAX_JSON_DEPTH} levels`);
    const start = this.#offset;
    const place: Place = { start, keyStart: keyStart ?? start, children: new Map() };
    const first = this.#text[start];
    if (first === '{') this.#members(place, depth);
    else if (first === '[') this.#items(place, depth);
    else if (first === '"') this.#string();
    else if (!this.#match(this.#literal) && !this.#match(this.#number))
      this.#fail(`expected a value, found ${this.#found()}`);
    return place;
  }

  #members(place: Place, depth: number): void {
    this.#offset++;
    if (this.#take('}')) return;
    do {
      this.#skipSpace();
      const keyStart = this.#offset;
      if (this.#text[keyStart] !== '"')
        this.#fail(`expected a field name in double quotes, found ${this.#found()}`);
      this.#string();
      const key = String(JSON.parse(this.#text.slice(keyStart, this.#offset)));
      if (place.children.has(key)) this.#fail(`the field ${JSON.stringify(key)} is given twice`, keyStart);
      if (!this.#take(':')) this.#fail(`expected ":" after the field name, found ${this.#found()}`);
      place.children.set(key, this.#value(depth + 1, keyStart));
    } while (this.#more('}'));
  }

  #items(place: Place, depth: number): void {
    this.#offset++;
    if (this.#take(']')) return;
    do place.children.set(place.children.size, this.#value(depth + 1));
    while (this.#more(']'));
  }

  /** True after a comma, false after the closing bracket. */
  #more(close: string): boolean {
    if (this.#take(close)) return false;
    const comma = this.#offset;
    if (!this.#take(',')) this.#fail(`expected "," or "${close}", found ${this.#found()}`);
    this.#skipSpace();
    if (this.#text[this.#offset] === close) this.#fail(`no comma is allowed before "${close}"`, comma);
    return true;
  }

  // Use a loop: one expression over a megabyte of text would exhaust the matcher's stack.
  #string(): void {
    const start = this.#offset++;
    for (;;) {
      const code = this.#text.charCodeAt(this.#offset);
      if (Number.isNaN(code)) this.#fail('a text is not closed with a double quote', start);
      if (code < 0x20) this.#fail('a text must not hold a raw line break or control character (write \\n)');
      if (code === 0x22) break;
      if (code !== 0x5c) this.#offset++;
      else if (!this.#match(this.#escape))
        this.#fail('unknown escape in a text (write \\\\ for a backslash)');
    }
    this.#offset++;
  }

  #skipSpace(): void {
    this.#match(this.#space);
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
    if (character === undefined) return 'the end of the file';
    if (character === '/' || character === '#') return 'a comment, which JSON does not allow';
    return character === "'" ? 'a single quote (JSON wants double quotes)' : JSON.stringify(character);
  }

  #fail(message: string, offset = this.#offset): never {
    throw new JsonTextError(message, positionAt(this.#text, offset));
  }
}
