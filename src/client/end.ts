/** Ends the executable after an error: one line on stderr, and an exit code. */
import { CommanderError } from 'commander';
import { parserMessage } from '../command-tree/help/parser-message.js';
import { ClientError, EXIT } from '../command-tree/runs/client-error.js';
import { asFilesLimit } from '../files/open-files.js';
import { DroverError } from '../model/errors.js';

/**
 * `message`: the line for stderr, without the leading `drover: `. '': print nothing, because the help was printed
 * already. Undefined: a fault of Drover, so the caller prints the stack.
 */
export function endOf(error: unknown): { readonly exitCode: number; readonly message: string | undefined } {
  if (error instanceof ClientError) return { exitCode: error.exitCode, message: error.message };
  // A request for help is not an error.
  if (error instanceof CommanderError)
    return { exitCode: error.exitCode === 0 ? 0 : EXIT.usage, message: parserMessage(error) };
  if (DroverError.is(error, 'DRV_COMMAND_INVALID')) return { exitCode: EXIT.usage, message: error.message };
  if (error instanceof DroverError && error.status === 404)
    return { exitCode: EXIT.notFound, message: error.message };
  if (error instanceof DroverError) return { exitCode: EXIT.failed, message: error.message };
  return { exitCode: EXIT.failed, message: asFilesLimit(error)?.message };
}
