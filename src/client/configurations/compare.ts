/** Judges documents before the master is asked, and places what it answers in them. */
import { describeFileError } from '../../command-tree/file-errors.js';
import { failedError } from '../../command-tree/runs/client-error.js';
import type { ConfigurationWarning } from '../../model/configuration.js';
import { countText } from '../../model/words.js';
import type { Document, Documents } from './documents.js';

/**
 * Returns the documents when all are valid. Prints each fault with `say`, then throws a ClientError. `undone` ends its
 * message, such as `nothing was written`.
 */
export function requireValid(
  { valid, faults }: Pick<Documents, 'valid' | 'faults'>,
  undone: string,
  say: (line: string) => void,
): readonly Document[] {
  if (faults.length === 0) return valid;
  for (const fault of faults) say(describeFileError(fault));
  const total = countText(valid.length + faults.length, 'configuration');
  throw failedError(
    `${undone}: ${faults.length} of ${total} ${faults.length === 1 ? 'is' : 'are'} not valid`,
  );
}

/** Finds the line of the warning in the document: the master got the content without line numbers. */
export function warningText(document: Document, { field, message }: ConfigurationWarning): string {
  const placed = document.warnings.find((warning) => warning.field === field);
  return describeFileError({ line: null, column: null, ...placed, field, message, file: document.file });
}
