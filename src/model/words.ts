/**
 * Instants, counts, texts from outside, errors of the system and ends of processes in words for a person. Only this file
 * formats them. It imports nothing of ours, because the client loads it too.
 */
import { getSystemErrorMap } from 'node:util';

/** A limit that no valid name or id reaches. */
const MOST_QUOTED_CHARS = 100;

/** An instant, such as `2026-01-31 12:00:41Z`. */
export function instantText(at: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return 'at an unknown time';
  return `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** A count with its noun, such as `1 instance` or `3 instances`. */
export function countText(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `text`, or its beginning with `…`: `mostChars` characters at most in all. */
export function cutText(text: string, mostChars: number): string {
  return text.length <= mostChars ? text : `${text.slice(0, mostChars - 1)}…`;
}

/** True when `text` takes at most `mostBytes` of UTF-8. Cheap for texts that are far shorter or far longer. */
export function byteLengthWithin(text: string, mostBytes: number): boolean {
  if (text.length > mostBytes) return false;
  return text.length * 3 <= mostBytes || Buffer.byteLength(text) <= mostBytes;
}

/** The longest beginning of `text` that takes at most `mostBytes` of UTF-8; whole characters only. */
export function cutToBytes(text: string, mostBytes: number): string {
  if (byteLengthWithin(text, mostBytes)) return text;
  const bytes = Buffer.from(text);
  return new TextDecoder().decode(bytes.subarray(0, mostBytes), { stream: true });
}

/** A name from outside, in quotes, on one line, and cut to a short length, whatever it holds. */
export function quoteText(text: string): string {
  return JSON.stringify(cutText(text, MOST_QUOTED_CHARS));
}

/** The words for the end of a process that follow its name: `exited with code 1`. */
export function endText({
  code,
  signal,
  cause,
}: {
  readonly code: number | null;
  readonly signal: string | null;
  readonly cause?: string | undefined;
}): string {
  if (cause !== undefined) return `ended (${cause})`;
  if (signal !== null) return `was ended by ${signal}`;
  return code === null ? 'ended while nobody watched' : `exited with code ${code}`;
}

/**
 * Returns `permission denied (EACCES)` for an error of the operating system, without the path that Node adds;
 * undefined for others.
 */
export function systemReason(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('errno' in error) || typeof error.errno !== 'number') return undefined;
  const known = getSystemErrorMap().get(error.errno);
  return known === undefined ? undefined : `${known[1]} (${known[0]})`;
}

/**
 * Returns `text` as one word of a POSIX shell, for commands that an operator copies. Quotes it only when a shell needs
 * that.
 */
export function shellWord(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The first `most` names of a list: `a, b, c and 4 more`. */
export function listText(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}
