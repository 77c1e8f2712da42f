/**
 * Edits the text of a JSON file: what does not change keeps its bytes. So a value that the API changes is one changed
 * line for git, whatever the layout, the line ends and the order of the file. Pure.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../model/json-object.js';
import { type JsonSpan, spansOf, withoutMark } from './json-position.js';

/** A part of a text, and the text in its place. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The text with the value `wanted`. `source` is strict JSON with the value `own`, maybe with a byte order mark. */
export function editJsonText(source: string, own: unknown, wanted: unknown): string {
  const text = withoutMark(source);
  const mark = source.slice(0, source.length - text.length);
  return mark + withEdits(text, [...new JsonTextEditor(text).edits(spansOf(text), own, wanted)]);
}

/** The text after edits of parts that do not overlap. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  let [result, from] = ['', 0];
  for (const { start, end, text: added } of edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    result += text.slice(from, start) + added;
    from = end;
  }
  return result + text.slice(from);
}

/** A member of an object or a list that is there, with its value now. */
interface Member {
  readonly span: JsonSpan;
  readonly own: unknown;
  /** Undefined: it goes. */
  readonly wanted: unknown;
}

interface Added {
  /** Undefined: an entry of a list. */
  readonly key?: string;
  readonly value: unknown;
}

class JsonTextEditor {
  readonly #text: string;
  readonly #lineEnd: string;
  readonly #unit: string;

  constructor(text: string) {
    this.#text = text;
    this.#lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
    this.#unit = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  }

  *edits(span: JsonSpan, own: unknown, wanted: unknown): Generator<Edit> {
    if (isDeepStrictEqual(own, wanted)) return;
    if (Array.isArray(own) && Array.isArray(wanted)) yield* this.#list(span, own, wanted);
    else if (isObject(own) && isObject(wanted)) yield* this.#object(span, own, wanted);
    else yield { ...span, text: this.#print(wanted, this.#leadOf(span)) };
  }

  *#object(span: JsonSpan, own: object, wanted: object): Generator<Edit> {
    const members = [...span.children].map(([key, child]) => ({
      span: child,
      own: Reflect.get(own, key),
      wanted: Object.hasOwn(wanted, key) ? Reflect.get(wanted, key) : undefined,
    }));
    const added = Object.entries(wanted)
      .filter(([key, value]) => !Object.hasOwn(own, key) && value !== undefined)
      .map(([key, value]) => ({ key, value }));
    yield* this.#members(span, members, added, members.length);
  }

  /**
   * Entries at the beginning and at the end that stay keep their text. The others are changed in their places when
   * there are as many as before, and else one by one.
   */
  *#list(span: JsonSpan, own: readonly unknown[], wanted: readonly unknown[]): Generator<Edit> {
    const isSameLength = own.length === wanted.length;
    const most = Math.min(own.length, wanted.length);
    let head = 0;
    while (head < most && isDeepStrictEqual(own[head], wanted[head])) head++;
    let tail = 0;
    while (tail < most - head && isDeepStrictEqual(own.at(-1 - tail), wanted.at(-1 - tail))) tail++;
    const place = most - tail;
    const members = [...span.children.values()].map((child, index) => {
      const to = index < place ? index : index - own.length + wanted.length;
      const stays = isSameLength || index < place || index >= own.length - tail;
      return { span: child, own: own[index], wanted: stays ? wanted[to] : undefined };
    });
    const added = isSameLength ? [] : wanted.slice(place, wanted.length - tail).map((value) => ({ value }));
    yield* this.#members(span, members, added, place);
  }

  /** Changes and removes members, and adds some after the first `place` of them. */
  *#members(
    span: JsonSpan,
    members: readonly Member[],
    added: readonly Added[],
    place: number,
  ): Generator<Edit> {
    const kept = members.filter(({ wanted }) => wanted !== undefined);
    const [first] = kept;
    if (first === undefined) {
      yield { start: span.start + 1, end: span.end - 1, text: this.#inside(span, added) };
      return;
    }
    let end = span.start + 1;
    let isBegun = false;
    for (const [index, member] of members.entries()) {
      const isFirst = member === first;
      isBegun ||= isFirst;
      if (isFirst && index > 0)
        yield { start: members[0]?.span.keyStart ?? end, end: member.span.keyStart, text: '' };
      if (member.wanted !== undefined) yield* this.edits(member.span, member.own, member.wanted);
      else if (isBegun) yield { start: end, end: member.span.end, text: '' };
      end = member.span.end;
    }
    if (added.length === 0) return;
    const before = members.slice(0, place).findLast(({ wanted }) => wanted !== undefined);
    const lead = this.#leadOf((before ?? first).span, kept.length > 1);
    const texts = added.map((one) => this.#member(one, lead, first));
    const start = before === undefined ? first.span.keyStart : (members[place - 1]?.span.end ?? end);
    const text = texts.map((one) => (before === undefined ? `${one},${lead}` : `,${lead}${one}`)).join('');
    yield { start, end: start, text };
  }

  /** The inside of an object or a list that has no members, or loses all. */
  #inside(span: JsonSpan, added: readonly Added[]): string {
    if (added.length === 0) return '';
    if (!this.#text.includes('\n')) return added.map((one) => this.#member(one, ' ')).join(', ');
    const outer = this.#lineOf(span.keyStart);
    const lead = `${outer}${this.#unit}`;
    return `${lead}${added.map((one) => this.#member(one, lead)).join(`,${lead}`)}${outer}`;
  }

  /** A new member, with the colon written as in the member `like`. */
  #member({ key, value }: Added, lead: string, like?: Member): string {
    const text = this.#print(value, lead);
    if (key === undefined) return text;
    const { keyStart = 0, start = 0 } = like?.span ?? {};
    return `${JSON.stringify(key)}${/\s*:\s*$/.exec(this.#text.slice(keyStart, start))?.[0] ?? ': '}${text}`;
  }

  /** The white space before a member: in a line of its own, the line end and the indentation. */
  #leadOf({ keyStart }: JsonSpan, isSeparated = true): string {
    const space = /\s*$/.exec(this.#text.slice(0, keyStart))?.[0] ?? '';
    if (space.includes('\n')) return this.#lineOf(keyStart);
    return isSeparated ? space : ' ';
  }

  /** The line end, and the indentation of the line at an offset. */
  #lineOf(offset: number): string {
    const line = this.#text.slice(this.#text.lastIndexOf('\n', offset - 1) + 1, offset);
    return `${this.#lineEnd}${/^[ \t]*/.exec(line)?.[0] ?? ''}`;
  }

  /** A value as the text around it is laid out: in one line, or in lines with this indentation. */
  #print(value: unknown, lead: string): string {
    if (!lead.includes('\n')) return JSON.stringify(value);
    return JSON.stringify(value, null, this.#unit).replaceAll('\n', lead);
  }
}
