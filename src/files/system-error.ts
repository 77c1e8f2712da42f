/** Reads the code of errors of the operating system, and turns failed writes into errors for an operator. */
import { DroverError } from '../model/errors.js';

/** The code of a system error such as `ENOENT`; undefined for anything else. */
export function systemCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/** True when `error` is a system error with one of these codes, such as `EEXIST`. */
export function hasFileCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes(systemCodeOf(error) ?? '');
}

/** True when the disk, or a user's share of it, is full. */
export function isDiskFull(error: unknown): boolean {
  return hasFileCode(error, 'ENOSPC', 'EDQUOT');
}

/** True when there is no such file or directory. */
export function isMissing(error: unknown): boolean {
  return systemCodeOf(error) === 'ENOENT';
}

/** For a `catch`: ignores a missing file or directory, and throws any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** True for errors of the operating system, not for Node's own codes (`ERR_...`) or those of libraries. */
export function isSystemError(error: unknown): boolean {
  return /^E[A-Z0-9]+$/.test(systemCodeOf(error) ?? '');
}

/** True for errors of the file system. Errors of the network have codes of the same form, but name no path. */
export function isDiskError(error: unknown): boolean {
  const isAboutFile = error instanceof Error && ('path' in error || isDiskFull(error));
  return isAboutFile && isSystemError(error);
}

/**
 * The error to throw when writing `what` failed. An error of the operating system becomes DRV_DISK_WRITE_FAILED with
 * the system's code. A DroverError, an abort and a mistake in our code pass unchanged.
 */
export function toWriteError(error: unknown, what: string): unknown {
  const code = systemCodeOf(error);
  if (code === undefined || !isSystemError(error)) return error;
  const message = isDiskFull(error)
    ? `cannot write ${what}: the disk is full (${code}); nothing was changed, free some space`
    : `cannot write ${what}: the system answered ${code}; check the disk and the permissions under the root`;
  return new DroverError('DRV_DISK_WRITE_FAILED', message, { cause: error });
}
