/**
 * Turns a schema's issues into sentences for an operator: the field, what it must be, and what it is. The accepted
 * values come from the schema itself. Values of fields that may hold secrets are never repeated.
 */

import { z } from 'zod';
import { isObject, valueAt } from '../model/json-object.js';
import { quoteText } from '../model/words.js';
import { nearestName } from './nearest-name.js';
import { REMARK } from './remarks.js';

/** One fault of one field. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  /** The fault in words, not naming the field: `must be true or false, is "yes"`. */
  readonly message: string;
  /** Whether the fault is the field's name or its value. */
  readonly at: 'key' | 'value';
}

/** Some faults of a text: the first, for a person to read, and how many more there are. */
export interface Findings {
  readonly first: readonly Problem[];
  readonly more: number;
}

/** A fault whose words are made only when it is among the first. */
export type Finding = () => Problem;

type Issue = z.core.$ZodIssue;
type Rule = z.core.JSONSchema.BaseSchema;

const SECRET_FIELDS: ReadonlySet<PropertyKey> = new Set([
  'joinToken',
  'environmentVariables',
  'properties',
  'value',
]);
/** How many faults of one text are put into words and located. A text of 1 MiB may have 80,000. */
const MAX_FOUND = 100;
const MAX_SHOWN = 5;
const MAX_SHOWN_CHARS = 60;

/** The path in words: `availablePorts.min`, `templateInstallationConfig.allOf[1].name`; empty for the whole. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.map((segment, index) => segmentText(segment, index === 0)).join('');
}

function segmentText(segment: PropertyKey, isFirst: boolean): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const text = String(segment);
  // quoteText cuts: a key may be as long as the text that holds it.
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)) return `[${quoteText(text)}]`;
  return isFirst ? text : `.${text}`;
}

/** The problems as one line: `cpu: must be …; ramMB: must be … (and 3 more)`. */
export function problemsText({ first, more }: Findings): string {
  const lines = first.slice(0, MAX_SHOWN).map(({ path, message }) => {
    const field = fieldName(path);
    return field === '' ? message : `${field}: ${message}`;
  });
  return lines.join('; ') + moreText(more + first.length - lines.length);
}

/** ` (and 3 more)`; empty for none. */
export function moreText(more: number): string {
  return more > 0 ? ` (and ${more} more)` : '';
}

/** The first 100 of all that is found, and the number of the rest. */
export function firstOf(found: Iterable<Finding>): Findings {
  const first: Problem[] = [];
  let more = 0;
  for (const finding of found) {
    if (first.length < MAX_FOUND) first.push(finding());
    else more++;
  }
  return { first, more };
}

/** The value that a schema makes of an input, or the input's faults. */
type Read<T> = { readonly data: T } | { readonly problems: Findings };

/**
 * Returns the function that reads values from outside by a schema. A null counts as a field that is not there, at every
 * level, unless the schema gives null a meaning. `mayShow` says whether the words of a fault may repeat the value of a
 * field; default: all but those of fields that hold secrets.
 */
export function readerOf<T>(
  schema: z.ZodType<T>,
  mayShow: (path: readonly PropertyKey[]) => boolean = isShown,
): (input: unknown) => Read<T> {
  return (input) => {
    const said = hasNull(input) ? withoutNulls(input, rulesOf(schema)) : input;
    const result = schema.safeParse(said);
    if (result.success) return { data: result.data };
    return {
      problems: firstOf(
        findingsOf(result.error.issues, { rules: rulesOf(schema), input: said, mayShow }, []),
      ),
    };
  };
}

function hasNull(value: unknown): boolean {
  return value === null || (typeof value === 'object' && Object.values(value).some(hasNull));
}

/** The value without the fields that are null, unless their rule takes a null. Entries of lists stay. */
function withoutNulls(value: unknown, rule: Rule | undefined): unknown {
  if (Array.isArray(value)) {
    const items = rule === undefined ? undefined : childRule(rule, 0);
    return value.map((item) => withoutNulls(item, items));
  }
  if (!isObject(value)) return value;
  const fields = Object.entries(value).flatMap(([key, field]) => {
    const own = rule === undefined ? undefined : childRule(rule, key);
    return field === null && !takesNull(own) ? [] : [[key, withoutNulls(field, own)] as const];
  });
  return Object.fromEntries(fields);
}

function takesNull(rule: Rule | undefined): boolean {
  return rule?.type === 'null' || (rule?.anyOf ?? []).some((one) => isRule(one) && takesNull(one));
}

/** Each takes some milliseconds, and thousands of texts may be judged. */
const RULES = new WeakMap<z.ZodType, Rule>();

/** The values that a schema accepts, for the words of its faults; made at the first need. */
export function rulesOf(schema: z.ZodType): Rule {
  const rules = RULES.get(schema) ?? z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  RULES.set(schema, rules);
  return rules;
}

/** The sources for the words of a fault. */
interface Context {
  readonly rules: Rule;
  readonly input: unknown;
  readonly mayShow: (path: readonly PropertyKey[]) => boolean;
}

function* findingsOf(
  issues: readonly Issue[],
  context: Context,
  at: readonly PropertyKey[],
): Generator<Finding> {
  const { rules } = context;
  for (const issue of issues) {
    const path = at.length === 0 ? issue.path : [...at, ...issue.path];
    if (issue.code === 'unrecognized_keys') {
      const parent = ruleAt(rules, path);
      for (const key of issue.keys) yield () => unknownField([...path, key], key, parent);
      continue;
    }
    const inner = issue.code === 'invalid_union' ? insideOf(issue.errors) : undefined;
    if (inner === undefined) yield () => problemOfIssue(issue, path, context);
    else yield* findingsOf(inner, context, path);
  }
}

function problemOfIssue(
  issue: Issue,
  path: readonly PropertyKey[],
  { rules, input, mayShow }: Context,
): Problem {
  const value = valueAt(input, path);
  const object = value === undefined ? path.slice(0, -1) : path;
  const typo = typoIn(valueAt(input, object), ruleAt(rules, object));
  switch (issue.code) {
    case 'invalid_key':
      return { path, message: issue.issues[0]?.message ?? 'key is not allowed', at: 'key' };
    case 'custom':
    case 'invalid_format': {
      // Show no value when the field is absent: then its default breaks the rule. An object breaks one as a whole.
      const is = value === undefined || isObject(value) ? '' : shown(value, mayShow(path));
      return { path, message: `${issue.message}${is}${typo}`, at: 'value' };
    }
    default: {
      const message = `must be ${accepted(ruleAt(rules, path))}${shown(value, mayShow(path))}${typo}`;
      return { path, message, at: 'value' };
    }
  }
}

/** The unknown field of an object that is probably a known one, as the end of a fault; empty: it has none. */
function typoIn(object: unknown, rule: Rule | undefined): string {
  const names = Object.keys(objectIn(rule)?.properties ?? {});
  for (const key of isObject(object) ? Object.keys(object).slice(0, MAX_FOUND) : []) {
    const nearest = names.includes(key) ? undefined : nearestName(key, names);
    if (nearest !== undefined) return `; unknown field ${quoteText(key)}, did you mean "${nearest}"?`;
  }
  return '';
}

/** For a union: the issues of the branch whose type matches the value; undefined: none matches. */
function insideOf(kinds: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return kinds.find((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
}

/**
 * The fields of `input` that the schema of `rules` does not know and left out of `output`, at every level. The field
 * `except` of the whole is not named.
 */
export function* unknownFieldsOf(
  rules: Rule,
  input: object,
  output: object,
  except: string,
): Generator<Finding> {
  for (const [parent, key] of unknownKeys(input, output, [])) {
    if (key === except && parent.length === 0) continue;
    yield () => {
      const nearest = nearestName(String(key), Object.keys(ruleAt(rules, parent)?.properties ?? {}));
      const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
      return { path: [...parent, key], message: `unknown field, has no effect${hint}`, at: 'key' };
    };
  }
}

function* unknownKeys(
  input: unknown,
  output: unknown,
  path: readonly PropertyKey[],
): Generator<readonly [parent: readonly PropertyKey[], key: PropertyKey]> {
  if (typeof input !== 'object' || input === null || typeof output !== 'object' || output === null) return;
  for (const name of Object.keys(input)) {
    const key = Array.isArray(input) ? Number(name) : name;
    if (Reflect.get(input, name) === null || name === REMARK) continue;
    if (!Object.hasOwn(output, name)) yield [path, key];
    else yield* unknownKeys(Reflect.get(input, name), Reflect.get(output, name), [...path, key]);
  }
}

function unknownField(path: readonly PropertyKey[], key: string, parent: Rule | undefined): Problem {
  const names = Object.keys(objectIn(parent)?.properties ?? {});
  const nearest = nearestName(key, names);
  const hint = nearest === undefined ? `known fields: ${names.join(', ')}` : `did you mean "${nearest}"?`;
  return { path, message: `unknown field; ${hint}`, at: 'key' };
}

function ruleAt(rules: Rule, path: readonly PropertyKey[]): Rule | undefined {
  let rule: Rule | undefined = rules;
  for (const segment of path) rule = rule === undefined ? undefined : childRule(rule, segment);
  return rule;
}

function childRule(rule: Rule, segment: PropertyKey): Rule | undefined {
  const { items, properties = {}, additionalProperties } = objectIn(rule) ?? rule;
  if (typeof segment === 'number') return isRule(items) ? items : undefined;
  const own = Object.hasOwn(properties, segment) ? properties[String(segment)] : additionalProperties;
  return isRule(own) ? own : undefined;
}

/** The branch of a rule that is for objects. */
function objectIn(rule: Rule | undefined): Rule | undefined {
  const kinds = rule?.anyOf?.filter(isRule) ?? [];
  return kinds.find(({ properties }) => properties !== undefined) ?? rule;
}

function isRule(rule: unknown): rule is Rule {
  return isObject(rule);
}

/** The values that a rule accepts, in words. */
function accepted(rule: Rule | undefined): string {
  if (isSwitch(rule?.enum)) return 'true or false';
  if (rule?.enum !== undefined) return `one of ${rule.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (rule?.const !== undefined) return JSON.stringify(rule.const);
  if (Array.isArray(rule?.examples)) return rule.examples.map((one) => JSON.stringify(one)).join(' or ');
  if (rule?.anyOf !== undefined)
    return rule.anyOf.map((one) => accepted(isRule(one) ? one : undefined)).join(' or ');
  switch (rule?.type) {
    case 'integer':
      return `a whole number${range(rule.minimum, rule.maximum, '')}`;
    case 'number':
      return `a number${range(rule.minimum, rule.maximum, '')}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return `a text${range(rule.minLength, rule.maxLength, ' characters')}`;
    case 'array':
      return `a list${range(rule.minItems, rule.maxItems, ' entries')}`;
    case 'object':
      return 'an object in { }';
    default:
      return 'another value';
  }
}

/** True for the two values of a flag in a query, which are texts. */
function isSwitch(values: readonly unknown[] = []): boolean {
  return values.length === 2 && values.includes('true') && values.includes('false');
}

function range(minimum: number | undefined, maximum: number | undefined, unit: string): string {
  const hasMaximum = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  const hasMinimum = minimum !== undefined && minimum > Number.MIN_SAFE_INTEGER;
  const preposition = unit === '' ? 'from' : 'of';
  if (hasMinimum && hasMaximum) return ` ${preposition} ${minimum} to ${maximum}${unit}`;
  if (hasMaximum) return ` of at most ${maximum}${unit}`;
  if (!hasMinimum) return '';
  return minimum === 1 && unit !== '' ? ' that is not empty' : ` of at least ${minimum}${unit}`;
}

function isShown(path: readonly PropertyKey[]): boolean {
  return !path.some((segment) => SECRET_FIELDS.has(segment));
}

/** The value in words: `, is "abc"`. If it may not be shown, only its type. */
function shown(value: unknown, mayShow: boolean): string {
  if (value === undefined) return ', is missing';
  if (Array.isArray(value)) return `, is a list of ${value.length} entries`;
  if (value === null) return ', is null';
  if (typeof value === 'object') return ', is an object';
  if (typeof value === 'string') return `, is ${mayShow ? textShown(value) : 'another text'}`;
  if (!mayShow) return `, is a ${typeof value}`;
  return Number.isFinite(value) || typeof value !== 'number' ? `, is ${String(value)}` : ', is too large';
}

function textShown(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `a text of ${text.length} characters` : quoteText(text);
}
