/**
 * Edits of settings files in which each line is a setting: properties of Java, INI, and plain text. A key that stands
 * more than once is set wherever it stands, because programs differ in which of them counts.
 */
import type { Edit } from '../../../configuration-files/text-edit.js';
import type { ValueEdit } from './file-edit.js';

/** A format of lines `key=value`. */
interface LineFormat {
  /** The groups `lead`, `key`, `value` and `rest` of a line with a setting. */
  readonly setting: RegExp;
  /** The name of the section that begins with a line, if it does. */
  readonly heading?: RegExp;
  linesOf(text: string): string[];
  isKey(own: string, key: string): boolean;
  /** The value that the text of a line stands for. */
  read(own: string): string;
  /** The text of a value, in place of another one. */
  write(value: string, own: string): string;
  writeKey(key: string): string;
}

const PROPERTIES: LineFormat = {
  setting:
    /^(?<lead>[ \t\f]*(?![#!])(?<key>(?:\\[\s\S]|[^\\=:\s])+)[ \t\f]*[=:]?[ \t\f]*)(?<value>[\s\S]*?)(?<rest>\r?\n?)$/,
  linesOf: logicalLines,
  isKey: (own, key) => unescaped(own) === key,
  read: unescaped,
  write: escaped,
  writeKey: (key) => escaped(key).replace(/(?<!^\\)[ =:]|^[#!]/g, '\\$&'),
};

/** A value of an INI file of which a reader would cut a part, unless it is in quotes. */
const NEEDS_QUOTES = /^\s|\s$|\s;\s/;
const INI: LineFormat = {
  // A comment of the line stands apart, as in `7777 ; the port`. Anything closer may belong to the value.
  setting:
    /^(?<lead>\s*(?<key>[^=;#[\s][^=]*?)\s*=[ \t]*)(?<value>"[^"\r\n]*"|.*?)(?<rest>(?:\s+;\s.*)?\s*)$/s,
  heading: /^\s*\[([^\]]*)\]/,
  linesOf,
  // Programs of Windows, which most INI files are for, take no notice of capitals.
  isKey: (own, key) => own.toLowerCase() === key.toLowerCase(),
  read: (own) => /^"(.*)"$/.exec(own)?.[1] ?? own,
  write: (value, own) =>
    (/^".*"$/.test(own) || NEEDS_QUOTES.test(value)) && !value.includes('"') ? `"${value}"` : value,
  writeKey: (key) => key,
};

export function editProperties(text: string, edits: readonly ValueEdit[]): string {
  return edits.reduce((now, { key, value }) => setLine(now, PROPERTIES, '', key, String(value)), text);
}

/** A key of an INI file is `key`, or `[section]key`. */
export function editIni(text: string, edits: readonly ValueEdit[]): string {
  return edits.reduce((now, { key: path, value }) => {
    const [, section = '', key = path] = /^\[([^\]]*)\](.+)$/.exec(path) ?? [];
    const text = singleLine(path, value);
    if (NEEDS_QUOTES.test(text) && text.includes('"') && !/^"[^"]*"$/.test(text))
      throw new Error(`${path}: the value needs quotes and has some, which the format cannot hold`);
    return setLine(now, INI, section, key, text);
  }, text);
}

/** The key is the beginning of a line, blanks left out; the value is what follows it there. */
export function editText(text: string, edits: readonly ValueEdit[]): string {
  return edits.reduce((now, { key: written, value }) => {
    const key = written.trimStart();
    const wanted = `${key}${singleLine(key, value)}`;
    const lines = linesOf(now);
    const isOne = (line: string): boolean => line.trimStart().startsWith(key);
    if (!lines.some(isOne)) return insertLines(lines, lines.length, [wanted]);
    const edited = (line: string): string => `${/^\s*/.exec(line)?.[0]}${wanted}${/\r?\n?$/.exec(line)?.[0]}`;
    return lines.map((line) => (isOne(line) ? edited(line) : line)).join('');
  }, text);
}

function setLine(text: string, format: LineFormat, section: string, key: string, value: string): string {
  const lines = format.linesOf(text);
  let [present, isFound] = ['', false];
  /** Where a new key of the section goes: behind the last line of it that is not empty. */
  let place = section === '' ? 0 : -1;
  for (const [index, line] of lines.entries()) {
    present = format.heading?.exec(line)?.[1] ?? present;
    if (!format.isKey(present, section)) continue;
    if (line.trim() !== '') place = index + 1;
    const { lead = '', key: own, value: was = '', rest = '' } = format.setting.exec(line)?.groups ?? {};
    if (own === undefined || !format.isKey(own, key)) continue;
    isFound = true;
    if (format.read(was) !== value)
      lines[index] = `${lead}${lead.endsWith(own) ? '=' : ''}${format.write(value, was)}${rest}`;
  }
  if (isFound) return lines.join('');
  const added = `${format.writeKey(key)}=${format.write(value, '')}`;
  const isOpen = format === PROPERTIES && /(?<!\\)(?:\\\\)*\\\r?\n?$/.test(lines[place - 1] ?? '');
  if (place >= 0) return insertLines(lines, place, isOpen ? ['', added] : [added]);
  return insertLines(lines, lines.length, [...(text === '' ? [] : ['']), `[${section}]`, added]);
}

/** The lines of a text, each with its line end. */
function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/);
}

/** The lines of a text; a line that ends in a backslash goes on in the next one, unless it is a comment. */
function logicalLines(text: string): string[] {
  const lines = text.match(/[ \t\f]*[#!].*\n?|(?:\\(?:\r\n|[\s\S])|[^\\\n])*(?:\n|\\?$)/g) ?? [];
  return lines.filter((line) => line !== '');
}

/** The line end of a text, for new lines. */
export function lineEndOf(text: string): string {
  return /\r?\n/.exec(text)?.[0] ?? '\n';
}

/** Puts new lines before the line of this index. A last line without an end gets one. */
function insertLines(lines: readonly string[], at: number, added: readonly string[]): string {
  const end = lineEndOf(lines.join(''));
  const before = lines.slice(0, at).join('');
  const gap = before === '' || before.endsWith('\n') ? '' : end;
  return before + gap + added.map((line) => line + end).join('') + lines.slice(at).join('');
}

/** New lines behind the line that this place is in; at 0, before all lines. */
export function insertionBehind(text: string, place: number, added: readonly string[]): Edit {
  const lineEnd = text.indexOf('\n', place);
  const at = place === 0 ? 0 : lineEnd < 0 ? text.length : lineEnd + 1;
  const edited = insertLines([text.slice(0, at), text.slice(at)], 1, added);
  return { start: at, end: at, text: edited.slice(at, edited.length - (text.length - at)) };
}

function singleLine(key: string, value: ValueEdit['value']): string {
  if (/[\r\n]/.test(String(value)))
    throw new Error(`${key}: the value has a line break, which the format cannot hold`);
  return String(value);
}

const LETTERS: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', f: '\f' };

function unescaped(text: string): string {
  return text.replace(
    /\\(?:u([0-9a-fA-F]{4})|\r?\n[ \t\f]*|([\s\S]))/g,
    (_all, code?: string, letter = '') =>
      code === undefined ? (LETTERS[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** Characters beyond ASCII become `\u00e4`, which every reader of the format knows, whatever its encoding. */
function escaped(text: string): string {
  return text
    .replace(
      /[\\\t\n\r\f]|^ /g,
      (one) => `\\${Object.keys(LETTERS).find((key) => LETTERS[key] === one) ?? one}`,
    )
    .replace(/[^\x20-\x7e]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
