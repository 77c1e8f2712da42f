/**
 * The refusal of a zip. It has a file of its own, because the code that reads zips is loaded only with the first zip.
 */
import { DroverError } from '../../model/errors.js';

/** DRV_ARCHIVE_INVALID with one reason. */
export function invalid(what: string, cause?: unknown): DroverError {
  return new DroverError('DRV_ARCHIVE_INVALID', `the zip was refused and nothing was changed: ${what}`, {
    cause,
  });
}
