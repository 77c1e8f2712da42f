/** Says in words why a file operation was refused, without the path that Node puts into its messages. */
import { messageOf } from '../model/errors.js';
import { systemReason } from '../model/words.js';

/** The reason, such as `permission denied (EACCES)`. For an error that is no system error: its plain message. */
export function fileReason(error: unknown): string {
  return systemReason(error) ?? messageOf(error);
}
