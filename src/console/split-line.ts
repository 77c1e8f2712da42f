/** Splits a typed line into words. */
import { parseArgsStringToArgv } from 'string-argv';

/** `instance execute <id> <text>`, with options before the id. */
const EXECUTE = /^\s*(instance\s+execute\s+(?:(?:-o\s*|--output[\s=])\S+\s+)?[^\s-]\S*)\s+(\S[\s\S]*)$/;
const WHOLLY_QUOTED = /^"([^"]*)"\s*$|^'([^']*)'\s*$/;

/**
 * Splits as a shell does, but without its escapes: quotes hold a word together.
 * `instance execute` sends everything after the id as one word, as it was typed, because the instance has its own
 * rules for quotes and blanks. Quotes around the whole text are removed.
 */
export function splitLine(line: string): string[] {
  const execute = EXECUTE.exec(line);
  if (execute === null) return parseArgsStringToArgv(line.trim());
  const [, head = '', command = ''] = execute;
  const quoted = WHOLLY_QUOTED.exec(command);
  return [...parseArgsStringToArgv(head), '--', quoted?.[1] ?? quoted?.[2] ?? command];
}
