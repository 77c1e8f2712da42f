/** Reads values of foreign files: objects of unchecked types, and names that Drover may not accept. */
import { z } from 'zod';
import { nameSchema } from '../../src/model/names.js';
import type { FieldNotes } from './report.js';

const MOST_NAME_CHARS = 64;
/** The keys that Drover accepts in environments and properties. */
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const recordSchema = z.record(z.string(), z.unknown());

/** The key of each word, for words that stand in one text by their key. */
export function keysByWord(words: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const pairs = Object.entries(words).flatMap(([key, text]) =>
    text.split(' ').map((word) => [word, key] as const),
  );
  return new Map(pairs);
}

/** The members of an object that are not null; undefined: the value is not an object. */
export function membersOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  const { data } = recordSchema.safeParse(value);
  if (data === undefined || Array.isArray(value)) return undefined;
  return Object.fromEntries(Object.entries(data).filter(([, member]) => member !== null));
}

/** The entries of a list; undefined: the value is not a list. */
export function listOf(value: unknown): readonly unknown[] | undefined {
  return z.array(z.unknown()).safeParse(value).data;
}

/** `text` as a name that Drover accepts, unchanged if possible. Undefined: none of its characters can stay. */
export function toName(text: string): string | undefined {
  const name = text
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, MOST_NAME_CHARS);
  return nameSchema.safeParse(name).data;
}

/** Turns the value into a name if possible. Otherwise returns it unchanged, and Drover's schema refuses it later. */
export function nameOr(value: unknown): unknown {
  return typeof value === 'string' ? (toName(value) ?? value) : value;
}

/** Does the same as `nameOr`, and adds a note about the field. */
export function notedName(field: string, value: unknown, notes: FieldNotes): unknown {
  const name = nameOr(value);
  if (name === value) notes.taken(field);
  else notes.changed(field, `${JSON.stringify(value)} is ${String(name)}: names have no other characters`);
  return name;
}

/**
 * Turns the entries of a list into names, and notes which names were changed. An entry that is not a text stays; it
 * is refused later with its place in the list.
 */
export function toNames(
  field: string,
  values: readonly unknown[],
  notes: Pick<FieldNotes, 'changed' | 'taken'>,
): readonly unknown[] {
  const names = values.map(nameOr);
  const changes = values.flatMap((value, index) =>
    value === names[index] ? [] : [`${JSON.stringify(value)} is ${String(names[index])}`],
  );
  if (changes.length === 0) notes.taken(field);
  else notes.changed(field, `names have letters, digits, ".", "_" and "-": ${changes.join(', ')}`);
  return names;
}

/** The texts of an environment, and how they were made. Notes never repeat a value. */
interface VariableMap {
  readonly values: Readonly<Record<string, string>>;
  /** The keys whose values were not texts. */
  readonly converted: readonly string[];
  /** The keys that Drover does not accept, and keys without a value. */
  readonly dropped: readonly string[];
}

/** The variables of a foreign file, whose values may be numbers, booleans and objects. */
export function variableMapOf(members: Readonly<Record<string, unknown>>): VariableMap {
  const values: (readonly [key: string, value: string])[] = [];
  const converted: string[] = [];
  const dropped: string[] = [];
  for (const [key, value] of Object.entries(members)) {
    if (!VARIABLE_NAME.test(key) || value === null || value === undefined) {
      dropped.push(key);
      continue;
    }
    if (typeof value !== 'string') converted.push(key);
    values.push([key, typeof value === 'string' ? value : JSON.stringify(value)]);
  }
  return { values: Object.fromEntries(values), converted, dropped };
}

/** Notes what became of a map of variables, without their values. */
export function noteVariables(field: string, { converted, dropped }: VariableMap, notes: FieldNotes): void {
  if (dropped.length > 0)
    notes.left(`${field}: ${dropped.join(', ')}`, 'no name that Drover accepts, or without a value');
  if (converted.length > 0) notes.changed(`${field}: ${converted.join(', ')}`, 'written as text');
  if (converted.length + dropped.length === 0) notes.taken(field);
}
