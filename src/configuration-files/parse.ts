/**
 * Judges one configuration, from the text of a file or from an API body, with the same rules and messages. Pure:
 * reads no disk and logs nothing.
 */
import {
  type Configuration,
  type ConfigurationFileError,
  type ConfigurationWarning,
  configurationSchema,
  hashConfiguration,
} from '../model/configuration.js';
import { DroverError } from '../model/errors.js';
import { nameSchema } from '../model/names.js';
import {
  type JsonText,
  JsonTextError,
  MAX_JSON_DEPTH,
  readJsonText,
  type TextPosition,
} from './json-position.js';
import { fieldName, type Problem, problemsOf, problemsText } from './problems.js';
import { warningsOf } from './warnings.js';

/** The largest file that is read. */
export const MAX_FILE_BYTES = 1024 * 1024;

/** Names that reach an object's prototype in careless code; refused at every level. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** A valid configuration of a file or a body. */
export interface ParsedConfiguration {
  readonly configuration: Configuration;
  readonly hash: string;
  /** The object as its author wrote it: with fields that the schema does not know, and without the defaults. */
  readonly content: object;
  /** Fields and values that have no effect, in the order of the text. */
  readonly warnings: readonly ConfigurationWarning[];
}

/** The result of a check: a valid configuration with its oddities, or the problems of an invalid one. */
type Checked =
  | { readonly configuration: Configuration; readonly content: object; readonly oddities: readonly Problem[] }
  | { readonly problems: readonly Problem[] };

/** Judges the text of the file `file`. The file's name stands for a missing `name`; null: `name` is required. */
export function parseConfigurationFile(
  file: string,
  text: string,
  defaultName: string | null = file.replace(/\.json$/, ''),
): { readonly parsed: ParsedConfiguration } | { readonly error: ConfigurationFileError } {
  try {
    const { value, positionOf } = readJsonText(text);
    const checked = checkConfiguration(value, defaultName);
    const placed = inOrder(checked, positionOf);
    if (!('problems' in checked)) {
      const warnings = placed.map(({ problem, position }) => toWarning(problem, position));
      return { parsed: parsedOf(checked, warnings) };
    }
    const field = fieldName(placed[0]?.problem.path ?? []);
    const message = problemsText(placed.map(({ problem }) => problem));
    const position = placed[0]?.position ?? { line: 1, column: 1 };
    const name = nameIn(value);
    return {
      error: {
        file,
        ...(name !== undefined && { name }),
        ...position,
        field: field === '' ? null : field,
        message,
      },
    };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const { line, column, message } = error;
    return { error: { file, line, column, field: null, message: `not valid JSON: ${message}` } };
  }
}

/**
 * Judges a text that is being typed for the configuration `name`: its faults with their places, or if none, its
 * warnings. The path's name counts, as in a PUT.
 */
export function judgeConfigurationText(
  name: string,
  text: string,
): { readonly problems: ConfigurationWarning[]; readonly warnings: ConfigurationWarning[] } {
  try {
    const { value, positionOf } = readJsonText(text);
    const checked = checkConfiguration(underName(name, value), name);
    const found = inOrder(checked, positionOf).map(({ problem, position }) => toWarning(problem, position));
    if ('problems' in checked) return { problems: found, warnings: [] };
    return { problems: [], warnings: [...otherName(name, value, positionOf), ...found] };
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    const { line, column, message } = error;
    return { problems: [{ line, column, field: '', message: `not valid JSON: ${message}` }], warnings: [] };
  }
}

/** Warns about another name: the author wants another configuration, or has copied the text from one. */
function* otherName(
  name: string,
  value: unknown,
  positionOf: JsonText['positionOf'],
): Generator<ConfigurationWarning> {
  const said: unknown = Object(value) === value ? Reflect.get(Object(value), 'name') : undefined;
  if (said === undefined || said === name) return;
  const message = `has no effect here: the configuration is called ${name}`;
  yield { ...positionOf(['name']), field: 'name', message };
}

/** The problems or oddities with their places, in the order of the text. */
function inOrder(
  checked: Checked,
  positionOf: JsonText['positionOf'],
): { readonly problem: Problem; readonly position: TextPosition }[] {
  return ('problems' in checked ? checked.problems : checked.oddities)
    .map((problem) => ({ problem, position: positionOf(problem.path, problem.at) }))
    .sort((a, b) => a.position.line - b.position.line || a.position.column - b.position.column);
}

function nameIn(value: unknown): string | undefined {
  const isObject = typeof value === 'object' && value !== null && Object.hasOwn(value, 'name');
  const { data } = nameSchema.safeParse(isObject ? Reflect.get(value, 'name') : undefined);
  return data;
}

/**
 * Judges the body of `PUT /configurations/{name}`. The path's name counts, whatever name the body has. Throws
 * DRV_CONFIGURATION_INVALID, which names every wrong field and what it must be.
 */
export function validateConfiguration(name: string, input: unknown): ParsedConfiguration {
  const checked = checkConfiguration(underName(name, input), name);
  if ('problems' in checked)
    throw new DroverError('DRV_CONFIGURATION_INVALID', problemsText(checked.problems));
  const nowhere = { line: null, column: null };
  return parsedOf(
    checked,
    checked.oddities.map((oddity) => toWarning(oddity, nowhere)),
  );
}

function toWarning(
  { path, message }: Problem,
  place: Pick<ConfigurationWarning, 'line' | 'column'>,
): ConfigurationWarning {
  return { ...place, field: fieldName(path), message };
}

function parsedOf(
  { configuration, content }: Pick<ParsedConfiguration, 'configuration' | 'content'>,
  warnings: readonly ConfigurationWarning[],
): ParsedConfiguration {
  return { configuration, content, hash: hashConfiguration(configuration), warnings };
}

function underName(name: string, input: unknown): unknown {
  const isObject = typeof input === 'object' && input !== null && !Array.isArray(input);
  return isObject && Object.hasOwn(input, 'name') ? { ...input, name } : input;
}

function checkConfiguration(input: unknown, defaultName: string | null): Checked {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return { problems: [{ path: [], message: 'a configuration must be an object in { }', at: 'value' }] };
  }
  const unsafe = [...unsafeParts(input, [])];
  if (unsafe.length > 0) return { problems: unsafe };
  const isNamed = Object.hasOwn(input, 'name') || defaultName === null;
  const named = isNamed ? input : { ...input, name: defaultName };
  const result = configurationSchema.safeParse(named);
  if (!result.success) return { problems: problemsOf(configurationSchema, result.error.issues, named) };
  return { configuration: result.data, content: input, oddities: warningsOf(input, result.data) };
}

/** Finds faults that the schema cannot see: it would drop such keys, or change such texts when it stores them. */
function* unsafeParts(value: unknown, path: readonly PropertyKey[]): Generator<Problem> {
  if (typeof value === 'string' && /\p{Surrogate}/u.test(value)) {
    yield { path, message: 'must not hold half of a surrogate pair', at: 'value' };
  }
  if (typeof value !== 'object' || value === null) return;
  if (path.length > MAX_JSON_DEPTH) {
    yield { path, message: `nested deeper than ${MAX_JSON_DEPTH} levels`, at: 'value' };
    return;
  }
  for (const [key, child] of Object.entries(value)) {
    const childPath = [...path, Array.isArray(value) ? Number(key) : key];
    if (FORBIDDEN_KEYS.has(key)) yield { path: childPath, message: 'this key is not allowed', at: 'key' };
    else yield* unsafeParts(child, childPath);
  }
}
