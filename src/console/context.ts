/** What one run of a command works with, and what the console needs of the master. */
import type { ApiCalls } from '../command-tree/runs/api-calls.js';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { Clock } from '../loop/clock.js';
import type { AuditTrail } from '../model/audit.js';
import type { Logger } from '../telemetry/logger.js';
import type { CommandOutput } from './output.js';
import type { Ask } from './own-calls.js';

export interface CommandDependencies {
  readonly ask: Ask;
  readonly extensions: Pick<ExtensionRegistry, 'commands'>;
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface CommandContext {
  readonly dependencies: Pick<CommandDependencies, 'extensions' | 'clock'>;
  readonly api: ApiCalls;
  readonly output: CommandOutput;
  /** Aborts when the caller no longer waits for the command. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns: number | undefined;
}
