/**
 * Resolves `extends`: a file takes over another one and says only what differs, as a JSON merge patch (RFC 7396). The
 * chain of files has an end, lies in one directory, and never turns back.
 */
import { dirname, join } from 'node:path';
import { fieldOf, isObject, valueAt } from '../model/json-object.js';
import { quoteText } from '../model/words.js';
import { isConfigurationFile } from './file-names.js';
import { type JsonText, JsonTextError, readJsonText, type TextPosition } from './json-position.js';

export const EXTENDS = 'extends';
const MOST_BASES = 8;
const PLACE = { path: [EXTENDS], at: 'value' } as const;

/** A file that is extended, and its text. */
interface Base {
  readonly file: string;
  readonly json: JsonText;
}

/** The files that a text extends, the nearest first, or why one cannot be taken over. */
export interface Bases {
  readonly found: readonly Base[];
  /** The files that were looked at, in order, also one that is missing. */
  readonly files: readonly string[];
  readonly fault: string | undefined;
}

export const NO_BASES: Bases = { found: [], files: [], fault: undefined };

interface Chain {
  readonly file: string;
  readonly text: string;
  /** Reads another file; a text says why it cannot be read. */
  readonly read: (file: string) => Promise<{ readonly text: string } | string>;
  /** True: the files are paths in one directory, which none may leave. */
  readonly isBounded: boolean;
}

/** Follows the chain from a text. A text that is not valid JSON extends nothing. */
export async function followBases({ file, text, read, isBounded }: Chain): Promise<Bases> {
  const first = text.includes(`"${EXTENDS}"`) ? jsonOf(text) : undefined;
  if (!(first instanceof Object) || first instanceof JsonTextError) return NO_BASES;
  const found: Base[] = [];
  const files: string[] = [];
  let at: Base = { file, json: first };
  const end = (fault?: string): Bases => {
    const [place] = at.file === file ? [] : at.json.positionsOf([PLACE]);
    const where = place === undefined ? '' : `in ${at.file}:${place.line}:${place.column}: `;
    return { found, files, fault: fault && `${where}${fault}` };
  };
  for (;;) {
    const said = fieldOf(at.json.value, EXTENDS) ?? undefined;
    if (said === undefined) return end();
    if (typeof said !== 'string' || said === '')
      return end('must be the path of another file, from this one');
    const next = join(dirname(at.file), said);
    if (said.startsWith('/')) return end(`must be a path from this file, is ${quoteText(said)}`);
    if (isBounded && next.startsWith('../')) return end(`${quoteText(said)} leads out of the directory`);
    if (!isConfigurationFile(said.replaceAll(/(?:^|\/)\.{1,2}(?=\/)/g, '').replace(/^\//, '')))
      return end(`${quoteText(said)} must be a *.json that is not hidden`);
    if (next === file || files.includes(next))
      return end(`goes in a circle: ${[file, ...files, next].join(' -> ')}`);
    if (files.length === MOST_BASES) return end(`more than ${MOST_BASES} files extend one another`);
    files.push(next);
    const content = await read(next);
    if (typeof content === 'string') return end(`${next} ${content}`);
    const json = jsonOf(content.text);
    if (json instanceof JsonTextError)
      return end(`${next}:${json.line}:${json.column}: not valid JSON: ${json.message}`);
    if (!isObject(json.value)) return end(`${next} must be an object in { }`);
    at = { file: next, json };
    found.push(at);
  }
}

function jsonOf(text: string): JsonText | JsonTextError {
  try {
    return readJsonText(text);
  } catch (error) {
    if (error instanceof JsonTextError) return error;
    throw error;
  }
}

/** A text with all that it takes over. A place outside of the text itself has a note that names file and place. */
export interface WholeText {
  readonly value: unknown;
  positionsOf(places: Parameters<JsonText['positionsOf']>[0]): (TextPosition & { readonly note?: string })[];
}

export function wholeText(own: JsonText, { found }: Bases): WholeText {
  if (found.length === 0) return own;
  return {
    value: patched(takenOver(found), own.value),
    positionsOf: (places) => {
      const [here = { line: 1, column: 1 }] = own.positionsOf([PLACE]);
      return own.positionsOf(places).map((position, index) => {
        const place = places[index] ?? PLACE;
        const has = ({ value }: JsonText): boolean => valueAt(value, place.path) !== undefined;
        const base = has(own) ? undefined : found.find(({ json }) => has(json));
        const [there] = base?.json.positionsOf([place]) ?? [];
        if (base === undefined || there === undefined) return position;
        return { ...here, note: ` (${base.file}:${there.line}:${there.column})` };
      });
    },
  };
}

/** The content that the files give together. The name of a file is its own. */
export function takenOver(found: Bases['found']): object {
  const value = found.reduceRight<unknown>((whole, { json }) => patched(whole, json.value), {});
  return Object.fromEntries(Object.entries(value ?? {}).filter(([key]) => key !== 'name' && key !== EXTENDS));
}

/** The target after a merge patch. */
export function patched(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const fields = new Map<string, unknown>(isObject(target) ? Object.entries(target) : []);
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) fields.delete(key);
    else fields.set(key, patched(fields.get(key), value));
  }
  return Object.fromEntries(fields);
}
