/** How the executable ends after an error: one line on stderr, and an exit code. */
import { CommanderError } from 'commander';
import { DroverError } from '../model/errors.js';
import { ClientError, EXIT } from './client-error.js';

export interface End {
  readonly exitCode: number;
  /** Without `drover: ` before it; '': the parser has said enough. Undefined: a fault of Drover. */
  readonly message: string | undefined;
}

export function endOf(error: unknown): End {
  if (error instanceof ClientError) return { exitCode: error.exitCode, message: error.message };
  // The help that was asked for is no error; the parser prints that, and its errors.
  if (error instanceof CommanderError)
    return { exitCode: error.exitCode === 0 ? 0 : EXIT.usage, message: '' };
  if (DroverError.is(error, 'DRV_COMMAND_INVALID')) return { exitCode: EXIT.usage, message: error.message };
  if (error instanceof DroverError) return { exitCode: EXIT.failed, message: error.message };
  return { exitCode: EXIT.failed, message: undefined };
}
