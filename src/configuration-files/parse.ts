/**
 * Judges one configuration, from the text of a file or from an API body, with the same rules and messages. Pure:
 * reads no disk and logs nothing.
 */
import { basename } from 'node:path';
import {
  type Configuration,
  type ConfigurationFileError,
  type ConfigurationWarning,
  configurationSchema,
  hashConfiguration,
  overfullMap,
  TEXT_MAPS,
} from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { fieldOf } from '../model/json-object.js';
import { nameSchema } from '../model/names.js';
import { type Bases, EXTENDS, NO_BASES, type WholeText, wholeText } from './extends.js';
import {
  type JsonPart,
  type JsonText,
  JsonTextError,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
  readJsonText,
  type TextPosition,
} from './json-position.js';
import {
  type Finding,
  type Findings,
  fieldName,
  firstOf,
  moreText,
  type Problem,
  problemsText,
  readerOf,
} from './problems.js';
import { withoutRemarks } from './remarks.js';
import { warningsOf } from './warnings.js';

/** The largest file that is read. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** Names that reach an object's prototype in careless code; refused at every level. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const ENCRYPTED =
  'sops has encrypted this configuration, and Drover would run it with the encrypted values: decrypt it first (sops decrypt)';
const ONLY_IN_FILES =
  'works only in a file of its own, beside the one that it names: "drover render -f FILE" prints the whole configuration';
const HALF_OF_A_PAIR = /\p{Surrogate}/u;
const FIELDS = Object.keys(configurationSchema.shape);
const readConfiguration = readerOf(configurationSchema);

/** A valid configuration of a file or a body. */
export interface ParsedConfiguration {
  readonly configuration: Configuration;
  readonly hash: string;
  /** The object as its author wrote it: with fields that the schema does not know, and without the defaults. */
  readonly content: object;
  /** The first 100 fields and values that have no effect, in the order of the text. */
  readonly warnings: readonly ConfigurationWarning[];
}

/** The result of a check: a valid configuration with its oddities, or the problems of an invalid one. */
type Checked =
  | { readonly configuration: Configuration; readonly content: object; readonly oddities: Findings }
  | { readonly problems: Findings };

/**
 * Judges the text of the file `file`, or one of several texts in it. The file's name stands for a missing `name`; null:
 * `name` is required. `bases`: what the text takes over.
 */
export function parseConfigurationFile(
  file: string,
  whole: string | JsonPart,
  { defaultName = basename(file, '.json'), bases = NO_BASES }: FileFacts = {},
): { readonly parsed: ParsedConfiguration } | { readonly error: ConfigurationFileError } {
  const { text, at } = typeof whole === 'string' ? { text: whole } : whole;
  try {
    const own = readJsonText(text, { at });
    const { value, positionsOf } = wholeText(own, bases);
    const content = bases.found.length === 0 ? value : without(EXTENDS, value);
    const { fault } = bases;
    const checked =
      fault === undefined
        ? checkConfiguration(content, fieldOf(value, 'name') ?? defaultName)
        : { problems: one([EXTENDS], fault) };
    if (!('problems' in checked))
      return { parsed: parsedOf(checked, warningsIn(checked.oddities, positionsOf)) };
    const name = nameSchema.safeParse(fieldOf(value, 'name')).data;
    const error = faultIn(file, checked.problems, positionsOf);
    return { error: name === undefined ? error : { ...error, name } };
  } catch (error) {
    return { error: textFault(file, error) };
  }
}

/** Reads the text of another file by `read` (`readerOf`): its value, or its first faults with their place. */
export function parseJsonFile<T>(
  file: string,
  text: string,
  read: ReturnType<typeof readerOf<T>>,
): { readonly data: T } | { readonly error: ConfigurationFileError } {
  try {
    const { value, positionsOf } = readJsonText(text);
    const result = read(value);
    return 'data' in result ? result : { error: faultIn(file, result.problems, positionsOf) };
  } catch (error) {
    return { error: textFault(file, error) };
  }
}

function faultIn(
  file: string,
  problems: Findings,
  positionsOf: WholeText['positionsOf'],
): ConfigurationFileError {
  const placed = inOrder(problems, positionsOf);
  const field = fieldName(placed[0]?.path ?? []);
  const { line, column } = placed[0] ?? { line: 1, column: 1 };
  const message = problemsText({ first: placed, more: problems.more });
  return { file, line, column, field: field === '' ? null : field, message };
}

/** The fault of a text that is no JSON. Throws any other error. */
export function textFault(file: string, error: unknown): ConfigurationFileError {
  if (!(error instanceof JsonTextError)) throw error;
  const { line, column, message } = error;
  return { file, line, column, field: null, message: `not valid JSON: ${message}` };
}

interface FileFacts {
  readonly defaultName?: string | null;
  readonly bases?: Bases;
}

function without(key: string, value: unknown): unknown {
  return Object.fromEntries(Object.entries(value ?? {}).filter(([other]) => other !== key));
}

/**
 * Judges a text that is being typed for the configuration `name`: its faults with their places, or if none, its
 * warnings; the first 100. The path's name counts, as in a PUT.
 */
export function judgeConfigurationText(
  name: string,
  text: string,
): { readonly problems: ConfigurationWarning[]; readonly warnings: ConfigurationWarning[] } {
  try {
    const { value, positionsOf } = readJsonText(text);
    const checked = checkConfiguration(value, name);
    if ('problems' in checked) return { problems: warningsIn(checked.problems, positionsOf), warnings: [] };
    const warnings = warningsIn(checked.oddities, positionsOf);
    return { problems: [], warnings: [...otherName(name, value, positionsOf), ...warnings] };
  } catch (error) {
    const { line, column, message } = textFault('', error);
    return { problems: [{ line, column, field: '', message }], warnings: [] };
  }
}
/** Warns about another name: the author wants another configuration, or has copied the text from one. */
function* otherName(
  name: string,
  value: unknown,
  positionsOf: JsonText['positionsOf'],
): Generator<ConfigurationWarning> {
  const said = fieldOf(value, 'name');
  if (said === undefined || said === name) return;
  const message = `has no effect here: the configuration is called ${name}`;
  for (const position of positionsOf([{ path: ['name'], at: 'value' }]))
    yield { ...position, field: 'name', message };
}

type Placed = Problem & TextPosition;

/** The problems or oddities with their places, in the order of the text. */
function inOrder({ first }: Findings, positionsOf: WholeText['positionsOf']): Placed[] {
  const positions = positionsOf(first);
  return first
    .map((problem, index) => {
      const { note = '', ...position } = positions[index] ?? { line: 1, column: 1 };
      return { ...problem, ...position, message: `${problem.message}${note}` };
    })
    .sort((a, b) => a.line - b.line || a.column - b.column);
}

function warningsIn(findings: Findings, positionsOf: WholeText['positionsOf']): ConfigurationWarning[] {
  return toWarnings(inOrder(findings, positionsOf), findings.more);
}

/** The last warning tells how many more there are. */
function toWarnings(
  first: readonly (Problem & Partial<TextPosition>)[],
  more: number,
): ConfigurationWarning[] {
  return first.map(({ path, message, line = null, column = null }, index) => {
    const rest = index === first.length - 1 ? moreText(more) : '';
    return { line, column, field: fieldName(path), message: `${message}${rest}` };
  });
}

/**
 * Judges the body of `PUT /configurations/{name}`. The path's name counts, whatever name the body has. Throws
 * DRV_CONFIGURATION_INVALID, which names every wrong field and what it must be.
 */
export function validateConfiguration(name: string, input: unknown): ParsedConfiguration {
  const checked = checkConfiguration(input, name);
  if ('problems' in checked)
    throw new DroverError('DRV_CONFIGURATION_INVALID', problemsText(checked.problems));
  const said = fieldOf(input, 'name');
  const content = said === undefined || said === name ? checked.content : { ...checked.content, name };
  return parsedOf({ ...checked, content }, toWarnings(checked.oddities.first, checked.oddities.more));
}

function parsedOf(
  { configuration, content }: Pick<ParsedConfiguration, 'configuration' | 'content'>,
  warnings: readonly ConfigurationWarning[],
): ParsedConfiguration {
  return { configuration, content, hash: hashConfiguration(configuration), warnings };
}

/** Judges the content under the given name, whatever name it has itself. Null: it has none, and needs one. */
function checkConfiguration(input: unknown, name: unknown): Checked {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return { problems: one([], 'a configuration must be an object in { }') };
  const unsafe = firstOf(unsafeParts(input));
  if (unsafe.first.length > 0) return { problems: unsafe };
  if (typeof fieldOf(input, EXTENDS) === 'string') return { problems: one([EXTENDS], ONLY_IN_FILES) };
  if (fieldOf(fieldOf(input, 'sops'), 'mac') !== undefined) return { problems: one(['sops'], ENCRYPTED) };
  // A copy of the known fields alone is cheap, however many others there are.
  const known: Record<string, unknown> = {};
  for (const field of FIELDS) if (Object.hasOwn(input, field)) known[field] = Reflect.get(input, field);
  if (name !== null) known.name = name;
  for (const field of TEXT_MAPS) {
    const problem = overfullMap(known[field]);
    if (problem !== undefined) return { problems: one([field], problem) };
  }
  const read = readConfiguration(withoutRemarks(known));
  if ('problems' in read) return read;
  return { configuration: read.data, content: input, oddities: warningsOf(input, read.data) };
}

function one(path: readonly PropertyKey[], message: string): Findings {
  return { first: [{ path, message, at: 'value' }], more: 0 };
}

/** Finds faults that the schema cannot see: it would drop such keys, or change such texts when it stores them. */
function unsafeParts(input: object): Finding[] {
  const found: Finding[] = [];
  const path: PropertyKey[] = [];
  let values = 0;
  const find = (message: string, at: Problem['at'] = 'value'): void => {
    const here = [...path];
    found.push(() => ({ path: here, message, at }));
  };
  const visit = (value: unknown): void => {
    values++;
    if (typeof value === 'string' && HALF_OF_A_PAIR.test(value))
      find('must not hold half of a surrogate pair');
    if (typeof value !== 'object' || value === null) return;
    if (path.length > MAX_JSON_DEPTH) {
      find(`nested deeper than ${MAX_JSON_DEPTH} levels`);
      return;
    }
    const isList = Array.isArray(value);
    for (const key of isList ? value.keys() : Object.keys(value)) {
      if (values > MAX_JSON_VALUES) return;
      path.push(key);
      if (typeof key === 'string' && FORBIDDEN_KEYS.has(key)) find('this key is not allowed', 'key');
      else visit(Reflect.get(value, key));
      path.pop();
    }
  };
  visit(input);
  if (values > MAX_JSON_VALUES) find(`must hold at most ${MAX_JSON_VALUES} values`);
  return found;
}
