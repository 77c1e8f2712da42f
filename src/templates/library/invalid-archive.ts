/** The refusal of a zip. It stands apart from the code that reads zips, which loads with the first of them. */
import { DroverError } from '../../model/errors.js';

/** DRV_ARCHIVE_INVALID with one reason. */
export function invalid(what: string, cause?: unknown): DroverError {
  return new DroverError('DRV_ARCHIVE_INVALID', `the zip was refused and nothing was changed: ${what}`, {
    cause,
  });
}
