/** The source of a secret, as `secret set` names it. A value comes of standard input or a file, never of an argument. */
import { readFile } from 'node:fs/promises';
import { failedError } from '../command-tree/runs/client-error.js';
import { messageOf } from '../model/errors.js';
import { type SecretSource, secretText } from '../model/fields/secret.js';

/** Throws a ClientError, which shows nothing of the value. */
export async function secretSource(
  command: readonly string[],
  { file, nodeFile }: { readonly file?: string; readonly nodeFile?: string },
  readInput: () => Promise<string>,
): Promise<SecretSource> {
  if (command.length > 0) return { command: [...command] };
  if (nodeFile !== undefined) return { file: nodeFile };
  try {
    return { value: secretText(file === undefined ? Buffer.from(await readInput()) : await readFile(file)) };
  } catch (error) {
    throw failedError(messageOf(error));
  }
}
