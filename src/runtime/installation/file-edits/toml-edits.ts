/**
 * Edits of TOML files: a value that is there is replaced in its place, a missing key is added. The result is read again,
 * and must hold exactly what was wanted.
 */
import { isDeepStrictEqual } from 'node:util';
import { type AST, ParseError, parseTOML } from 'toml-eslint-parser';
import { type Edit, withEdits } from '../../../configuration-files/text-edit.js';
import { valueAt } from '../../../model/json-object.js';
import type { ValueEdit } from './file-edit.js';
import { insertionBehind } from './line-edits.js';
import { FIXED_FORM, pathOf, setTogether, withValue } from './value-edits.js';

/** Names of keys, and numbers for entries of lists. */
type Path = readonly (string | number)[];

/** The keys below one header, or those above the first one. */
interface Section {
  readonly path: Path;
  readonly keys: readonly AST.TOMLKeyValue[];
  /** The first key goes behind the line that this place is in. */
  readonly top: number;
}

/** A value of the file; those in a list or a table stand behind it. */
interface Place {
  readonly path: Path;
  readonly node: AST.TOMLContentNode;
}

export function editToml(text: string, edits: readonly ValueEdit[]): string {
  return setTogether(text, edits, setInToml);
}

function setInToml(text: string, edits: readonly ValueEdit[]): string {
  const { sections, places, value } = readToml(text);
  const wanted = edits.reduce<unknown>((now, edit) => withValue(now, pathOf(edit.key), edit), value);
  const splices = edits
    .map(({ key }) => pathOf(key))
    .filter((path) => !isDeepStrictEqual(valueAt(value, path), valueAt(wanted, path)))
    .map((path): Edit => {
      const around = places.findLast((one) => isBegunBy(path, one.path));
      const section = sections.filter((one) => isBegunBy(path, one.path)).reduce(innermost);
      return around === undefined
        ? addition(text, section, path, valueAt(wanted, path))
        : replacement(around, path, valueAt(wanted, path));
    });
  const edited = withEdits(text, splices);
  if (isDeepStrictEqual(readToml(edited).value, wanted)) return edited;
  throw new Error(`${edits[0]?.key}: ${FIXED_FORM}`);
}

function readToml(text: string) {
  try {
    // Version 1.1 reads all of version 1.0.
    const { body } = parseTOML(text, { tomlVersion: '1.1' }).body[0];
    const tables = body.filter((one) => one.type === 'TOMLTable');
    const top = text.slice(0, tables[0]?.range[0]).trimEnd().length;
    const first: Section = { path: [], keys: body.filter((one) => one.type === 'TOMLKeyValue'), top };
    const sections = [
      first,
      ...tables.map((own): Section => ({ path: own.resolvedKey, keys: own.body, top: own.key.range[1] })),
    ];
    const places = sections.flatMap(({ path, keys }) => placesIn(path, keys));
    const value = {};
    for (const { path } of sections) put(value, path, {});
    for (const { path, node } of places)
      put(value, path, node.type === 'TOMLValue' ? node.value : node.type === 'TOMLArray' ? [] : {});
    return { sections, places, value };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new Error(`it is not TOML: line ${error.lineNumber}, column ${error.column + 1}: ${error.message}`);
  }
}

function placesIn(path: Path, keys: readonly AST.TOMLKeyValue[]): Place[] {
  return keys.flatMap(({ key, value }) => placesBelow([...path, ...namesOf(key)], value));
}

function placesBelow(path: Path, node: AST.TOMLContentNode): Place[] {
  if (node.type === 'TOMLInlineTable') return [{ path, node }, ...placesIn(path, node.body)];
  if (node.type === 'TOMLValue') return [{ path, node }];
  return [{ path, node }, ...node.elements.flatMap((own, index) => placesBelow([...path, index], own))];
}

function namesOf({ keys }: AST.TOMLKey): string[] {
  return keys.map((own) => (own.type === 'TOMLBare' ? own.name : own.value));
}

/** Sets the value at a path, unless there is one. No name reaches a prototype, as the parser's own way to do it does. */
function put(into: object, path: Path, value: unknown): void {
  let at: object = into;
  for (const [index, name] of path.entries()) {
    const own = index < path.length - 1 ? (typeof path[index + 1] === 'number' ? [] : {}) : value;
    const settings = { value: own, enumerable: true, configurable: true, writable: true };
    if (!Object.hasOwn(at, name)) Object.defineProperty(at, name, settings);
    at = Object(Reflect.get(at, name));
  }
}

function isBegunBy(path: readonly string[], names: Path): boolean {
  return names.length <= path.length && names.every((name, index) => String(name) === path[index]);
}

function innermost(one: Section, other: Section): Section {
  return other.path.length > one.path.length ? other : one;
}

/** Writes the value in its place, or a key at the end of the table in braces around it. */
function replacement({ path: own, node }: Place, path: readonly string[], value: unknown): Edit {
  const [start, end] = node.range;
  if (own.length === path.length) return { start, end, text: written(value, node) };
  const line = lineOf(path.slice(own.length), value);
  const last = node.type === 'TOMLInlineTable' ? node.body.at(-1)?.range[1] : undefined;
  return last === undefined
    ? { start, end, text: `{ ${line} }` }
    : { start: last, end: last, text: `, ${line}` };
}

/** Adds a key to the innermost section around it: behind its keys, or below a new header at the end of the file. */
function addition(
  text: string,
  { path: own, keys, top }: Section,
  path: readonly string[],
  value: unknown,
): Edit {
  const names = path.slice(own.length);
  // A table whose keys are written with dots may have no header. A header begins no table in an entry of a list.
  const beside = keys.findLast(({ key }) => namesOf(key)[0] === names[0]);
  if (names.length > 1 && beside === undefined && own.every((name) => typeof name === 'string')) {
    const lines = [`[${path.slice(0, -1).map(nameText).join('.')}]`, lineOf(path.slice(-1), value)];
    return insertionBehind(text, text.length, text === '' ? lines : ['', ...lines]);
  }
  const [start, end] = (beside ?? keys.at(-1))?.range ?? [0, top];
  const indentation = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return insertionBehind(text, end, [indentation + lineOf(names, value)]);
}

function lineOf(names: readonly string[], value: unknown): string {
  return `${names.map(nameText).join('.')} = ${written(value)}`;
}

function nameText(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : written(name);
}

/** The text of a value, in the form of the one that is there: a float stays one, and so do single quotes. */
function written(value: unknown, own?: AST.TOMLContentNode): string {
  const form = own?.type === 'TOMLValue' ? own : undefined;
  if (typeof value !== 'string')
    return form?.kind === 'float' && /^-?\d+$/.test(String(value)) ? `${value}.0` : String(value);
  const isLiteral =
    form?.kind === 'string' && form.style === 'literal' && /^[^'\0-\x08\n-\x1f\x7f]*$/.test(value);
  return isLiteral ? `'${value}'` : JSON.stringify(value).replaceAll('\x7f', '\\u007f');
}
