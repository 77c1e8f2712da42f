/**
 * The part of a log that the page holds: consecutive lines, in pages of bounded size, and notes between them. Pure:
 * `LogFeed` puts in the lines of the stream and of the routes, and `LogView` shows the pages.
 *
 *     kept on the node   1 ......................................... end
 *     held here                    first ............ last
 *     isAtEnd: last is the end, and new lines are held as they come
 */

export interface LogLine {
  readonly kind: 'line';
  readonly key: string;
  readonly number: number;
  /** The line with its terminal sequences. */
  readonly text: string;
  /** The time in UTC, to the second; null: not known. */
  readonly time: string | null;
}

interface LogNote {
  readonly kind: 'note';
  readonly key: string;
  readonly text: string;
  /** `sent`: a command that was typed here. */
  readonly from: 'drover' | 'sent';
}

export type LogItem = LogLine | LogNote;

/** A page of lines. A change replaces the page, so the same object needs no new rendering. */
export interface LogPage {
  readonly key: string;
  readonly items: readonly LogItem[];
}

/** Consecutive lines, in the form that the stream and the routes send. */
export interface LogPart {
  readonly first: number;
  readonly lines: readonly string[];
  readonly times?: readonly (string | null)[] | undefined;
}

const PAGE_ITEMS = 100;
/** How many pages are held while the operator follows, or loads older lines. */
const MOST_PAGES = 40;
/**
 * The most pages held while the operator does not follow. New lines beyond them are only counted, and loaded when
 * they come into sight.
 */
const MOST_PAGES_PAUSED = 80;

/** Its methods write its fields. Others only read them: they get a `Readonly<LogWindow>`. */
export class LogWindow {
  pages: readonly LogPage[] = [];
  /** The number of the first line held; null: no line is held. */
  first: number | null = null;
  last: number | null = null;
  /** The number of the newest line of the log; 0: no line is known. */
  end = 0;
  isAtEnd = true;
  /** The node that counts the lines; null: not known yet. */
  node: string | null = null;
  #notes = 0;

  /**
   * Notes that the stream begins with line `next` of the log on `node`. Returns true when the lines count from 1
   * again, such as on another node. The window is then empty.
   */
  begin(node: string, next: number): boolean {
    const isAnew = this.node !== null && (node !== this.node || next <= this.end);
    if (isAnew) this.clear();
    this.node = node;
    this.end = Math.max(this.end, next - 1);
    return isAnew;
  }

  /** Adds new lines of the stream. `isFollowed`: the oldest lines may be dropped to make room. */
  append(part: LogPart, isFollowed: boolean): void {
    this.end = Math.max(this.end, lastOf(part));
    if (!this.isAtEnd) return;
    const fresh = partAfter(part, this.last ?? 0);
    if (fresh.lines.length === 0) return;
    this.#addBehind(itemsOf(fresh));
    this.first ??= fresh.first;
    this.last = lastOf(fresh);
    if (isFollowed) this.#trimStart(MOST_PAGES);
    else if (this.pages.length >= MOST_PAGES_PAUSED) this.isAtEnd = false;
  }

  /** Skips lines that the node no longer keeps, up to line `last`, and puts the note `text` in their place. */
  skip(last: number, text: string): void {
    this.end = Math.max(this.end, last);
    if (!this.isAtEnd) return;
    this.note(text, 'drover');
    if (this.last !== null) this.last = last;
  }

  /** Adds a note at the end. Does nothing when the window does not hold the end of the log. */
  note(text: string, from: LogNote['from']): void {
    if (!this.isAtEnd) return;
    this.#addBehind([{ kind: 'note', key: `note ${++this.#notes}`, text, from }]);
  }

  /** Adds lines before the first line held; lines that do not belong there are left out. */
  prepend(part: LogPart): void {
    if (part.lines.length === 0 || lastOf(part) + 1 !== this.first) return;
    this.pages = [...pagesOf(itemsOf(part)), ...this.pages];
    this.first = part.first;
    if (this.pages.length > MOST_PAGES) this.#trimEnd(MOST_PAGES);
  }

  /**
   * Adds lines behind the last line held, while that is not the end. Lines behind the known end are left out: they may
   * be unfinished, and the stream brings them.
   */
  extend(part: LogPart): void {
    if (this.last === null || this.isAtEnd || part.first > this.last + 1) return;
    const fresh = partAfter(partUpTo(part, this.end), this.last);
    this.#addBehind(itemsOf(fresh));
    this.last += fresh.lines.length;
    this.isAtEnd = this.last >= this.end;
    this.#trimStart(MOST_PAGES);
  }

  /** Holds these lines in place of all others. Lines behind the known end are left out, as in `extend`. */
  replace(part: LogPart): void {
    const whole = partUpTo(part, this.end);
    if (whole.lines.length === 0) return;
    this.pages = pagesOf(itemsOf(whole));
    this.first = whole.first;
    this.last = lastOf(whole);
    this.isAtEnd = this.last >= this.end;
  }

  /** Empties the window until the stream begins. `isAtEnd`: the stream will begin with the last lines. */
  clear(isAtEnd = true): void {
    this.pages = [];
    this.first = this.last = null;
    this.end = 0;
    this.node = null;
    this.isAtEnd = isAtEnd;
  }

  has(number: number): boolean {
    return this.first !== null && this.last !== null && number >= this.first && number <= this.last;
  }

  #addBehind(items: readonly LogItem[]): void {
    const last = this.pages.at(-1);
    const isOpen = last !== undefined && last.items.length < PAGE_ITEMS;
    const room = isOpen ? PAGE_ITEMS - last.items.length : 0;
    const grown = isOpen ? [{ ...last, items: [...last.items, ...items.slice(0, room)] }] : [];
    const kept = isOpen ? this.pages.slice(0, -1) : this.pages;
    this.pages = [...kept, ...grown, ...pagesOf(items.slice(room))];
  }

  #trimStart(most: number): void {
    if (this.pages.length <= most) return;
    this.pages = this.pages.slice(-most);
    this.first = firstNumber(this.pages) ?? this.first;
  }

  #trimEnd(most: number): void {
    this.pages = this.pages.slice(0, most);
    this.last = lastNumber(this.pages) ?? this.last;
    this.isAtEnd = false;
  }
}

function lastOf({ first, lines }: LogPart): number {
  return first + lines.length - 1;
}

function partAfter(part: LogPart, number: number): LogPart {
  const known = Math.min(part.lines.length, Math.max(0, number + 1 - part.first));
  if (known === 0) return part;
  return { first: part.first + known, lines: part.lines.slice(known), times: part.times?.slice(known) };
}

function partUpTo(part: LogPart, number: number): LogPart {
  const most = Math.max(0, number + 1 - part.first);
  if (most >= part.lines.length) return part;
  return { first: part.first, lines: part.lines.slice(0, most), times: part.times?.slice(0, most) };
}

function itemsOf({ first, lines, times }: LogPart): LogLine[] {
  return lines.map((text, place) => {
    const number = first + place;
    return { kind: 'line', key: `line ${number}`, number, text, time: times?.[place] ?? null };
  });
}

function pagesOf(items: readonly LogItem[]): LogPage[] {
  const pages: LogPage[] = [];
  for (let from = 0; from < items.length; from += PAGE_ITEMS) {
    const part = items.slice(from, from + PAGE_ITEMS);
    pages.push({ key: part[0]?.key ?? '', items: part });
  }
  return pages;
}

function firstNumber(pages: readonly LogPage[]): number | null {
  for (const { items } of pages) {
    const line = items.find((item) => item.kind === 'line');
    if (line !== undefined) return line.number;
  }
  return null;
}

function lastNumber(pages: readonly LogPage[]): number | null {
  for (const { items } of pages.toReversed()) {
    const line = items.findLast((item) => item.kind === 'line');
    if (line !== undefined) return line.number;
  }
  return null;
}
