/** Says in words why a file operation was refused, without the path that Node puts into its messages. */
import { messageOf } from '../model/errors.js';
import { systemReason } from '../model/words.js';

/** `permission denied (EACCES)`; the plain message of an error that is no system error. */
export function fileReason(error: unknown): string {
  return systemReason(error) ?? messageOf(error);
}
