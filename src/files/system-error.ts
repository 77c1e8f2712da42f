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
function isDiskFull(error: unknown): boolean {
  return hasFileCode(error, 'ENOSPC', 'EDQUOT');
}

/** True when the disk takes no writes at present: it is full, or the system has made it read-only. */
export function isDiskClosed(error: unknown): boolean {
  return isDiskFull(error) || hasFileCode(error, 'EROFS');
}

/** Says why a write was refused, for an error with a code of the system, as the end of a message. */
export function refusalOf(error: unknown): string {
  const code = systemCodeOf(error);
  if (isDiskFull(error)) return `the disk is full (${code})`;
  return code === 'EROFS' ? `the disk is read-only (${code})` : `the system answered ${code}`;
}

/** True when there is no such file or directory. */
export function isMissing(error: unknown): boolean {
  return systemCodeOf(error) === 'ENOENT';
}

/** For a `catch`: ignores a missing file or directory, and throws any other error. */
export function ignoreMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/** For a `catch`: makes a handler that ignores errors with one of these codes, and throws any other error. */
export function ignoring(...codes: readonly string[]): (error: unknown) => undefined {
  return (error) => {
    if (!hasFileCode(error, ...codes)) throw error;
  };
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
  const cure = isDiskFull(error)
    ? 'nothing was changed, free some space'
    : code === 'EROFS'
      ? 'nothing was changed, mount it writable'
      : 'check the disk and the permissions under the root';
  const message = `cannot write ${what}: ${refusalOf(error)}; ${cure}`;
  return new DroverError('DRV_DISK_WRITE_FAILED', message, { cause: error });
}
