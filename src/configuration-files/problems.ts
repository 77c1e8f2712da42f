/**
 * Turns a schema's issues into sentences for an operator: the field, what it must be, and what it is. The accepted
 * values come from the schema itself. Values of fields that may hold secrets are never repeated.
 */

import { z } from 'zod';
import { quoteText } from '../model/words.js';
import { nearestName } from './nearest-name.js';

/** One fault of one field. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  /** The fault in words, not naming the field: `must be true or false, is "yes"`. */
  readonly message: string;
  /** Whether the fault is the field's name or its value. */
  readonly at: 'key' | 'value';
}

type Issue = z.core.$ZodIssue;
type Rule = z.core.JSONSchema.BaseSchema;

const SECRET_FIELDS: ReadonlySet<PropertyKey> = new Set(['joinToken', 'environmentVariables', 'properties']);
const MAX_SHOWN = 5;
const MAX_SHOWN_CHARS = 60;

/** The path in words: `availablePorts.min`, `templateInstallationConfig.allOf[1].name`; empty for the whole. */
export function fieldName(path: readonly PropertyKey[]): string {
  return path.map((segment, index) => segmentText(segment, index === 0)).join('');
}

function segmentText(segment: PropertyKey, isFirst: boolean): string {
  if (typeof segment === 'number') return `[${segment}]`;
  const text = String(segment);
  if (!/^[A-Za-z_][A-Za-z0-9_-]{0,63}$/.test(text)) return `[${quoteText(text)}]`;
  return isFirst ? text : `.${text}`;
}

/** The problems as one line: `cpu: must be …; ramMB: must be … (and 3 more)`. */
export function problemsText(problems: readonly Problem[]): string {
  const lines = problems.slice(0, MAX_SHOWN).map(({ path, message }) => {
    const field = fieldName(path);
    return field === '' ? message : `${field}: ${message}`;
  });
  const more = problems.length - lines.length;
  return lines.join('; ') + (more > 0 ? ` (and ${more} more)` : '');
}

/** The problems of `input` under `schema`; `issues` is the result of its safeParse. */
export function problemsOf(schema: z.ZodType, issues: readonly Issue[], input: unknown): Problem[] {
  const rules = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return issues.flatMap((issue) => problemsOfIssue(issue, rules, input));
}

function problemsOfIssue(issue: Issue, rules: Rule, input: unknown): Problem[] {
  const { path } = issue;
  const rule = ruleAt(rules, path);
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownField([...path, key], key, rule));
    case 'invalid_key':
      return [{ path, message: issue.issues[0]?.message ?? 'key is not allowed', at: 'key' }];
    case 'invalid_union': {
      const inner = insideOf(issue.errors);
      if (inner !== undefined)
        return inner.flatMap((one) =>
          problemsOfIssue({ ...one, path: [...path, ...one.path] }, rules, input),
        );
      break;
    }
    case 'custom':
    case 'invalid_format': {
      const value = valueAt(input, path);
      // Show no value when the field is absent: then its default breaks the rule.
      const is = value === undefined ? '' : shown(path, value);
      return [{ path, message: `${issue.message}${is}`, at: 'value' }];
    }
    default:
  }
  const message = `must be ${accepted(rule)}${shown(path, valueAt(input, path))}`;
  return [{ path, message, at: 'value' }];
}

/** For a union: the issues of the branch whose type matches the value; undefined: none matches. */
function insideOf(kinds: readonly (readonly Issue[])[]): readonly Issue[] | undefined {
  return kinds.find((issues) =>
    issues.every(({ path, code }) => path.length > 0 || code === 'unrecognized_keys'),
  );
}

/** The fields of `input` that `schema` does not know and left out of `output`, at every level. */
export function unknownFieldsOf(schema: z.ZodType, input: object, output: object): Problem[] {
  const paths = [...unknownPaths(input, output, [])];
  if (paths.length === 0) return [];
  const rules = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return paths.map((path) => {
    const names = Object.keys(ruleAt(rules, path.slice(0, -1))?.properties ?? {});
    const nearest = nearestName(String(path.at(-1)), names);
    const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
    return { path, message: `unknown field, has no effect${hint}`, at: 'key' };
  });
}

function* unknownPaths(
  input: unknown,
  output: unknown,
  path: readonly PropertyKey[],
): Generator<readonly PropertyKey[]> {
  if (typeof input !== 'object' || input === null || typeof output !== 'object' || output === null) return;
  for (const [key, value] of Object.entries(input)) {
    const childPath = [...path, Array.isArray(input) ? Number(key) : key];
    if (Object.hasOwn(output, key)) yield* unknownPaths(value, Reflect.get(output, key), childPath);
    else yield childPath;
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
  return typeof rule === 'object' && rule !== null && !Array.isArray(rule);
}

/** The values that a rule accepts, in words. */
function accepted(rule: Rule | undefined): string {
  if (rule?.enum !== undefined) return `one of ${rule.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (rule?.const !== undefined) return JSON.stringify(rule.const);
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

function range(minimum: number | undefined, maximum: number | undefined, unit: string): string {
  const hasMaximum = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  const preposition = unit === '' ? 'from' : 'of';
  if (minimum !== undefined && hasMaximum) return ` ${preposition} ${minimum} to ${maximum}${unit}`;
  if (hasMaximum) return ` of at most ${maximum}${unit}`;
  if (minimum === undefined) return '';
  return minimum === 1 && unit !== '' ? ' that is not empty' : ` of at least ${minimum}${unit}`;
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = Reflect.get(value, segment);
  }
  return value;
}

/** The value in words: `, is "abc"`. If it may be a secret, only its type. */
function shown(path: readonly PropertyKey[], value: unknown): string {
  if (value === undefined) return ', is missing';
  if (Array.isArray(value)) return `, is a list of ${value.length} entries`;
  if (value === null) return ', is null';
  if (typeof value === 'object') return ', is an object';
  const isSecret = path.some((segment) => SECRET_FIELDS.has(segment));
  if (typeof value === 'string') return `, is ${isSecret ? 'another text' : textShown(value)}`;
  if (isSecret) return `, is a ${typeof value}`;
  return Number.isFinite(value) || typeof value !== 'number' ? `, is ${String(value)}` : ', is too large';
}

function textShown(text: string): string {
  return text.length > MAX_SHOWN_CHARS ? `a text of ${text.length} characters` : quoteText(text);
}
