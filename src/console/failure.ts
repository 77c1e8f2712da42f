/** Says why a command failed, for the person who typed it. */

import { CommanderError } from 'commander';
import { parserMessage } from '../command-tree/help/parser-message.js';
import { ClientError } from '../command-tree/runs/client-error.js';
import { DroverError, type ErrorCode, messageOf } from '../model/errors.js';
import { cutText } from '../model/words.js';
import type { Logger } from '../telemetry/logger.js';

/** Longer messages only repeat what was typed. */
const MAX_CHARS = 2000;
const INVALID: ErrorCode = 'DRV_COMMAND_INVALID';

/** The error for a command of which a part failed. The command's output names that part. */
export class PartFailed extends Error {
  override readonly name = 'PartFailed';
  /** True: print no error, because the output is for a program and another sentence would spoil it. */
  readonly isTold: boolean;

  constructor(message: string, isTold: boolean) {
    super(message);
    this.isTold = isTold;
  }
}

/** Returns the message as one line; '' when the printed help says enough. Logs Drover's own bugs in full. */
export function describeFailure(error: unknown, logger: Logger): string {
  if (error instanceof PartFailed) return error.message;
  if (error instanceof ClientError) return cutText(error.message, MAX_CHARS);
  if (error instanceof CommanderError) return cutText(parserMessage(error), MAX_CHARS);
  if (error instanceof DroverError) {
    // The author of the extension finds the stack in the log only.
    if (error.code === 'DRV_EXTENSION_FAILED')
      logger.warn({ err: error }, `an extension's command failed: ${error.message}`);
    return cutText(error.message, MAX_CHARS);
  }
  logger.error({ err: error }, `a command failed: ${messageOf(error)}`);
  return 'the command failed inside Drover; its log has the details';
}

/** The error code that is printed with the message; undefined: the error has no code. */
export function codeOf(error: unknown): string | undefined {
  if (error instanceof CommanderError) return INVALID;
  return error instanceof DroverError || error instanceof ClientError ? error.code : undefined;
}

/** True when the help was asked for and printed. */
export function isHelp(error: unknown): boolean {
  return error instanceof CommanderError && error.exitCode === 0;
}
