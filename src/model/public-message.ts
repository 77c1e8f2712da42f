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
  const issue = error.issues[0];
  const field = issue?.path.join('.') ?? '';
  const fault = `${field === '' ? 'the value' : field}: ${issue?.message ?? 'not valid'}`;
  return cutText(fault, MOST_PROBLEM_CHARS);
}

/** Returns `text` with only the last segment of each absolute path. Linear in its length. */
export function withoutPaths(text: string): string {
  return text.replace(ABSOLUTE_PATH, (path) => path.slice(path.lastIndexOf('/') + 1));
}
