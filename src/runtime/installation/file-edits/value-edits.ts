/**
 * Edits of settings files with nested values: JSON and YAML. A value that is there is replaced in its place; the
 * result is read again, and must hold exactly what was wanted.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  parseDocument,
  Scalar,
  stringify,
} from 'yaml';
import { JsonTextError, readJsonText } from '../../../configuration-files/json-position.js';
import { type Edit, editJsonText, withEdits } from '../../../configuration-files/text-edit.js';
import { isObject, valueAt } from '../../../model/json-object.js';
import { attempt } from '../../../model/plain/attempt.js';
import type { ValueEdit } from './file-edit.js';
import { insertionBehind, lineEndOf } from './line-edits.js';

/** More than any settings file of a program has. */
const MOST_VALUES = 100_000;
export const FIXED_FORM = 'the value stands in a form that cannot be changed without touching others';
const PLAIN_VALUE = /^(?:true|false|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/;

/** The names of a key such as `listeners.0.host`; `\.` is a dot in a name. */
export function pathOf(key: string): string[] {
  return key.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
}

/** The value `own` with one value in it set. Throws when something else stands in the way. */
export function withValue(own: unknown, path: readonly string[], edit: ValueEdit): unknown {
  const [name, ...rest] = path;
  if (name === undefined) return typed(own, edit);
  if (Array.isArray(own)) {
    if (!/^\d+$/.test(name) || Number(name) >= own.length)
      throw new Error(
        `${edit.key}: the list there has ${own.length} entries, the first is 0, and none is "${name}"`,
      );
    return own.map((one, index) => (index === Number(name) ? withValue(one, rest, edit) : one));
  }
  if (own !== undefined && own !== null && !isObject(own))
    throw new Error(`${edit.key}: a single value stands above "${name}"`);
  return { ...own, [name]: withValue(valueAt(own, [name]), rest, edit) };
}

/** A text in which a variable was replaced becomes a number, true or false, unless the file has a text there. */
function typed(own: unknown, { key, value, isFilled }: ValueEdit): unknown {
  if (Array.isArray(own) || (isObject(own) && !(own instanceof Date)))
    throw new Error(`${key}: the file has several values there, so name one of them`);
  if (!isFilled || typeof own === 'string' || !PLAIN_VALUE.test(String(value))) return value;
  const plain: unknown = JSON.parse(String(value));
  return String(plain) === value ? plain : value;
}

/** Sets all values at once, because to read a long text takes long; one by one where they stand in each other's way. */
export function setTogether<T>(
  own: T,
  edits: readonly ValueEdit[],
  set: (now: T, some: readonly ValueEdit[]) => T,
): T {
  return attempt(() => set(own, edits)) ?? edits.reduce((now, edit) => set(now, [edit]), own);
}

export function editJson(text: string, edits: readonly ValueEdit[]): string {
  const own = readJson(text);
  const wanted = edits.reduce((now, edit) => withValue(now, pathOf(edit.key), edit), own);
  return text.trim() === '' ? `${JSON.stringify(wanted, null, 2)}\n` : editJsonText(text, own, wanted);
}

function readJson(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return readJsonText(text, { mostValues: MOST_VALUES }).value;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw new Error(`it is not JSON: line ${error.line}, column ${error.column}: ${error.message}`);
  }
}

/** A text and what was read from it. To read a long text takes long. */
interface Yaml {
  readonly text: string;
  readonly document: Document.Parsed;
  readonly value: unknown;
}

export function editYaml(text: string, edits: readonly ValueEdit[]): string {
  return edits.reduce(setInYaml, replaceInYaml(readYaml(text), edits)).text;
}

/**
 * Replaces the values that the file has, all at once, so that a long text is not read for each of them. Changes nothing
 * where another value would change too.
 */
function replaceInYaml(own: Yaml, edits: readonly ValueEdit[]): Yaml {
  const present = edits.filter(({ key }) => valueAt(own.value, pathOf(key)) !== undefined);
  const wanted = present.reduce((now, edit) => withValue(now, pathOf(edit.key), edit), own.value);
  const splices = present
    .map(({ key }) => pathOf(key))
    .filter((path) => !isDeepStrictEqual(valueAt(own.value, path), valueAt(wanted, path)))
    .flatMap((path) => spliceYaml(own, path, wanted));
  return splices.length === 0 ? own : attempt(() => checked(withEdits(own.text, splices), wanted), own);
}

/** Takes the first way of writing the value after which the file holds exactly what is wanted. */
function setInYaml(own: Yaml, edit: ValueEdit): Yaml {
  const path = pathOf(edit.key);
  const wanted = withValue(own.value, path, edit);
  if (isDeepStrictEqual(own.value, wanted)) return own;
  const edited =
    attempt(() => checked(withEdits(own.text, spliceYaml(own, path, wanted)), wanted)) ??
    attempt(() => checked(rewriteYaml(own.text, path, wanted), wanted));
  if (edited !== undefined) return edited;
  throw new Error(`${edit.key}: ${FIXED_FORM}`);
}

/** Reads a text that must have this value. Throws when it has another one. */
function checked(text: string, wanted: unknown): Yaml {
  const edited = readYaml(text);
  if (!isDeepStrictEqual(edited.value, wanted)) throw new Error('the text has another value');
  return edited;
}

/** Lays out the whole file anew, with its comments. A schema without numbers keeps all their digits. */
function rewriteYaml(text: string, path: readonly string[], wanted: unknown): string {
  const document = parseYaml(text, 'failsafe');
  document.setIn(path, parseYaml(stringify(valueAt(wanted, path), { lineWidth: 0 }), 'failsafe').contents);
  return document.toString({ lineWidth: 0 }).replaceAll('\n', lineEndOf(text));
}

function readYaml(text: string): Yaml {
  const document = parseYaml(text);
  return { text, document, value: document.toJS() ?? {} };
}

function parseYaml(text: string, schema: 'core' | 'failsafe' = 'core'): Document.Parsed {
  // To compare each key with all others takes seconds for a long file.
  const document = parseDocument(text, { schema, uniqueKeys: false, prettyErrors: true, logLevel: 'error' });
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`it is not YAML: ${error.message.split(':\n')[0]}`);
  return document;
}

/** Replaces the text of one value, or adds a line behind the last one of a map; no edit: neither fits the file. */
function spliceYaml({ text, document }: Yaml, path: readonly string[], wanted: unknown): Edit[] {
  let node: unknown = document.contents;
  let value = wanted;
  for (const [index, name] of path.entries()) {
    // A key that has no value yet gets a map.
    if (isScalar(node) && node.value === null) break;
    const child = childOf(node, name);
    value = valueAt(wanted, path.slice(0, index + 1));
    if (child === undefined) return addToYaml(text, node, name, value);
    node = child;
  }
  if (!(isScalar(node) || isAlias(node)) || node.range == null) return [];
  const [start, end] = node.range;
  const scalar = new Scalar(value);
  if (isScalar(node) && node.type?.startsWith('QUOTE')) scalar.type = node.type;
  if (typeof scalar.value === 'string' && scalar.value.includes('\n')) scalar.type = 'QUOTE_DOUBLE';
  const lead = /[:-]/.test(text.charAt(start - 1)) ? ' ' : '';
  const gap = /[^\s,\]}]/.test(text.charAt(end)) ? ' ' : '';
  const tail = text.slice(start, end).endsWith('\n') ? lineEndOf(text) : gap;
  const written = stringify(isObject(value) ? value : scalar, { lineWidth: 0, collectionStyle: 'flow' });
  return [{ start, end, text: lead + written.trimEnd() + tail }];
}

function childOf(node: unknown, name: string): unknown {
  if (isSeq(node)) return node.items[Number(name)];
  if (!isMap(node)) return undefined;
  return node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === name)?.value ?? undefined;
}

function addToYaml(text: string, map: unknown, name: string, value: unknown): Edit[] {
  const added = stringify({ [name]: value }, { lineWidth: 0 })
    .trimEnd()
    .split('\n');
  if (map === null) return [insertionBehind(text, text.length, added)];
  if (!isMap(map) || map.flow === true) return [];
  const [first, last] = [map.items[0], map.items.at(-1)];
  const start = rangeOf(first?.key)?.[0];
  const stop = (rangeOf(last?.value) ?? rangeOf(last?.key))?.[1];
  if (start === undefined || stop === undefined) return [];
  const indentation = ' '.repeat(start - (text.lastIndexOf('\n', start - 1) + 1));
  const lines = added.map((line) => indentation + line);
  return [insertionBehind(text, text[stop - 1] === '\n' ? stop - 1 : stop, lines)];
}

function rangeOf(node: unknown): Node['range'] {
  return node !== null && typeof node === 'object' && 'range' in node ? (node as Node).range : undefined;
}
