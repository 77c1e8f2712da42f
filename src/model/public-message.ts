/**
 * The part of an error that people away from the machine may read: in API answers, in an instance's `message`, on a
 * console. The log gets the error itself.
 */
import { z } from 'zod';
import { DroverError, messageOf } from './errors.js';
import { cutText, systemReason } from './words.js';

const MOST_PROBLEM_CHARS = 300;

/** A path has at least two segments here, because a single one may be a word such as `/api`. */
const ABSOLUTE_PATH = /(?:file:\/\/|(?<![\w.:/~%-]))(?:\/[\w.@+~%=,-]+){2,}/g;

/**
 * The message of any thrown value, without paths of this machine. The message of a DroverError was written for clients
 * and stays as it is. Never throws.
 */
export function publicMessage(error: unknown): string {
  if (error instanceof DroverError) return error.message;
  return systemReason(error) ?? withoutPaths(messageOf(error));
}

/**
 * The problem of a value that a schema refused: its first fault, after the path of the field (`status.restarts: ...`).
 * For another error: its message.
 */
export function problemOf(error: unknown): string {
  if (!(error instanceof z.ZodError)) return cutText(messageOf(error), MOST_PROBLEM_CHARS);
  const [issue] = error.issues;
  const field = issue?.path.join('.') ?? '';
  const fault = `${field === '' ? 'the value' : field}: ${issue === undefined ? 'is not valid' : faultOf(issue)}`;
  return cutText(fault, MOST_PROBLEM_CHARS);
}

const KINDS: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object in { }',
  record: 'an object in { }',
  string: 'a text',
};
/** The unit of a limit, by the kind of the value; the limit of a number has none. */
const UNITS: Readonly<Record<string, string>> = { array: ' entries', string: ' characters' };

/** A fault in words for an operator, where the value and its schema are not at hand. */
function faultOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${KINDS[issue.expected] ?? 'another value'}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${UNITS[issue.origin] ?? ''}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map((value) => JSON.stringify(value)).join(', ')}`;
    case 'unrecognized_keys':
      return `unknown field ${issue.keys.join(', ')}`;
    case 'invalid_key':
      return issue.issues[0]?.message ?? 'a key is not allowed';
    case 'custom':
    case 'invalid_format':
      return issue.message;
    default:
      return 'has none of the forms that it may have';
  }
}

/** Returns `text` with only the last segment of each absolute path. Linear in its length. */
export function withoutPaths(text: string): string {
  return text.replace(ABSOLUTE_PATH, (path) => path.slice(path.lastIndexOf('/') + 1));
}
