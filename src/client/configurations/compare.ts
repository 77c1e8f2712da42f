/** Asks the master what each document would change, before anything is written. */
import { describeFileError } from '../../command-tree/file-errors.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { ConfigurationWarning } from '../../model/configuration.js';
import { countText } from '../../model/words.js';
import type { ConfigurationChange } from '../../operations/configuration-content.js';
import type { ApiClient } from '../api-client.js';
import type { Document, Documents } from './documents.js';

const AT_ONCE = 8;

/** A document, and what the master says it would change. */
export interface Compared {
  readonly document: Document;
  readonly change: ConfigurationChange;
}

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
  throw new ClientError(
    EXIT.failed,
    `${undone}: ${faults.length} of ${total} ${faults.length === 1 ? 'is' : 'are'} not valid`,
  );
}

/**
 * Compares all documents. The master validates each as for a write. `showValues`: possibly secret values are shown too.
 * `say` receives each warning, one line per call. Throws a ClientError for the first refusal.
 */
export async function compareAll(
  api: ApiClient,
  documents: readonly Document[],
  showValues: boolean,
  say: (line: string) => void,
): Promise<Compared[]> {
  const compared: Compared[] = [];
  for (let from = 0; from < documents.length; from += AT_ONCE) {
    const some = documents.slice(from, from + AT_ONCE);
    compared.push(...(await Promise.all(some.map((document) => compare(api, document, showValues)))));
  }
  for (const { document, change } of compared)
    for (const warning of change.warnings) say(`warning: ${warningText(document, warning)}`);
  return compared;
}

async function compare(api: ApiClient, document: Document, showValues: boolean): Promise<Compared> {
  const { name, file, content } = document;
  try {
    // Hide possible secrets unless values are requested: many people can read a pipeline's output.
    const path = `/configurations/${pathPart(name)}/diff${showValues ? '?values=true' : ''}`;
    return { document, change: await api.send<ConfigurationChange>('POST', path, content) };
  } catch (error) {
    if (!(error instanceof ClientError) || error.exitCode !== EXIT.failed) throw error;
    throw new ClientError(error.exitCode, `${file}: ${name}: ${error.message}`, { cause: error });
  }
}

/** Finds the line of the warning in the document: the master got the content without line numbers. */
export function warningText(document: Document, { field, message }: ConfigurationWarning): string {
  const placed = document.warnings.find((warning) => warning.field === field);
  return describeFileError({ line: null, column: null, ...placed, field, message, file: document.file });
}
