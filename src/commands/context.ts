import type { Reads } from '../operations/reads.js';
import type { Writes } from '../operations/writes.js';
import type { Logger } from '../telemetry/logger.js';
import type { MasterTemplates } from '../templates/master-templates.js';
import type { CommandOutput } from './output.js';

export type CommandDependencies = Reads &
  Omit<Writes, 'templateSync'> & {
    readonly templateSync: Pick<MasterTemplates, 'fromStorage' | 'latestSync' | 'toCluster'>;
    readonly logger: Logger;
  };

export interface CommandContext {
  readonly dependencies: CommandDependencies;
  readonly output: CommandOutput;
  /** The caller's name in the audit trail. */
  readonly actor: string;
  /** Aborts when the caller no longer waits for the command. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns: number | undefined;
}
