/** What a refused file operation says to a person, without the path that Node puts into its messages. */
import { getSystemErrorMap } from 'node:util';

/** `permission denied (EACCES)`; the plain message of anything that is not a system error. */
export function fileReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const errno = 'errno' in error && typeof error.errno === 'number' ? error.errno : undefined;
  const known = errno === undefined ? undefined : getSystemErrorMap().get(errno);
  return known === undefined ? error.message : `${known[1]} (${known[0]})`;
}

/** True when `error` is a system error with one of these codes, such as `ENOENT`. */
export function hasFileCode(error: unknown, ...codes: readonly string[]): boolean {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
