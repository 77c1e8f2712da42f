/**
 * What one run of a command works with: the parts of the master, where it prints, and the options that all commands
 * share.
 */
import { type Command, Option } from 'commander';
import type { InstanceStreams } from '../channel/services/instance-streams.js';
import type { Explainer } from '../explain/explanation.js';
import type { ExtensionRegistry } from '../extensions/registry.js';
import type { Clock } from '../loop/clock.js';
import type { ApiKeyRecord } from '../model/access/api-key.js';
import type { AuditTrail } from '../model/audit.js';
import type { ConfigurationRecord } from '../model/configuration.js';
import type { InstanceRecord } from '../model/instance.js';
import type { NodeRecord } from '../model/node.js';
import type { KeyNeeds } from '../operations/api-keys.js';
import type { ClusterStatusNeeds } from '../operations/cluster-status.js';
import type { ConfigurationDiffNeeds } from '../operations/configuration-diff.js';
import type { ConfigurationReloadNeeds } from '../operations/configuration-reload.js';
import type { InstanceDetailsNeeds } from '../operations/instance-details.js';
import type { InstanceLifecycleNeeds } from '../operations/instance-lifecycle.js';
import type { InstanceLogNeeds } from '../operations/instance-log.js';
import type { JoinTokenNeeds } from '../operations/join-tokens.js';
import type { NodeOperationNeeds } from '../operations/node-operations.js';
import type { SessionNeeds } from '../operations/sessions.js';
import type { InstanceWriter } from '../store/instance-writes.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Logger } from '../telemetry/logger.js';
import type { LocalTemplates } from '../templates/library/local-templates.js';
import type { MasterTemplates } from '../templates/master-templates.js';
import type { CommandOutput } from './output.js';
import { type Cell, renderTable } from './table.js';

type Records<T> = Pick<MirrorReader<T>, 'get' | 'entries' | 'setAside'>;

/** What the commands need of the master, the needs of their operations included. */
export type CommandDependencies = ClusterStatusNeeds &
  ConfigurationDiffNeeds &
  ConfigurationReloadNeeds &
  InstanceDetailsNeeds &
  InstanceLifecycleNeeds &
  JoinTokenNeeds &
  KeyNeeds &
  NodeOperationNeeds &
  SessionNeeds & {
    readonly version: string;
    readonly instances: Records<InstanceRecord>;
    readonly configurations: Records<ConfigurationRecord>;
    readonly nodes: Records<NodeRecord>;
    readonly keys: Records<ApiKeyRecord>;
    readonly instanceWrites: InstanceLifecycleNeeds['instanceWrites'] & Pick<InstanceWriter, 'create'>;
    readonly streams: InstanceLogNeeds['streams'] & Pick<InstanceStreams, 'writeStdin'>;
    readonly templates: Pick<LocalTemplates, 'groups' | 'rescan'>;
    readonly templateSync: Pick<MasterTemplates, 'fromStorage' | 'toCluster' | 'latestSync'>;
    readonly explainer: Explainer;
    readonly extensions: Pick<ExtensionRegistry, 'list' | 'commands'>;
    readonly audit: Pick<AuditTrail, 'record'>;
    readonly clock: Clock;
    readonly logger: Logger;
    /** Ends the daemon as SIGTERM does. Returns at once. */
    stopDaemon(): void;
  };

export interface CommandContext {
  readonly dependencies: CommandDependencies;
  readonly output: CommandOutput;
  /** Aborts when the caller no longer waits for the command. */
  readonly signal: AbortSignal;
  /** Columns of the reader's terminal; undefined: tables are not cut. */
  readonly columns: number | undefined;
}

/** The options of all commands of Drover. Commands of extensions do not have them. */
export interface SharedOptions {
  readonly output: 'table' | 'json';
}

/** Adds a command to a group, such as `list` to `instance`. */
export function addCommand(parent: Command, usage: string, description: string): Command {
  const format = new Option('-o, --output <format>', 'table for people, json for programs');
  return parent
    .command(usage)
    .description(description)
    .addOption(format.choices(['table', 'json']).default('table'));
}

/** Prints the data as JSON when asked to, else the text. */
export async function show(
  { output }: CommandContext,
  options: SharedOptions,
  data: () => unknown,
  text: () => string | Promise<string>,
): Promise<void> {
  if (options.output === 'json') output.printJson(data());
  else output.print(await text());
}

/** Returns a table that fits the reader's terminal, or `none` when there are no rows. */
export async function tableOf(
  { columns }: CommandContext,
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  none: string,
): Promise<string> {
  return rows.length === 0 ? none : await renderTable(head, rows, { columns });
}

/** Returns names and values, one below the other. Names without a value are left out. */
export async function fieldsOf(fields: Readonly<Record<string, Cell>>): Promise<string> {
  const rows = Object.entries(fields).filter(
    ([, value]) => value !== null && value !== undefined && value !== '',
  );
  return renderTable([], rows);
}
