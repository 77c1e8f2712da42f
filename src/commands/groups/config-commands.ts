/** `config ...`: what should run, what is in force of it, and which files are broken. */
import type { Command } from 'commander';
import { renderConfigurationExplanation } from '../../explain/render.js';
import type { Configuration, ConfigurationRecord } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { hasFinished, type InstanceRecord } from '../../model/instance.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';
import { describeFileErrors } from '../file-errors.js';
import { findConfiguration, unknownConfiguration, visibleInstances } from '../find.js';
import { describeDiff, diffOf } from './config-diff.js';

const HEAD = ['NAME', 'RUNTIME', 'ONLINE', 'INSTANCES', 'MINIMUM', 'RAM', 'CPU', 'PORTS', 'FILE', 'STATUS'];

export function addConfigCommands(program: Command, context: CommandContext): void {
  const { dependencies } = context;
  const group = program.command('config').description('configurations: what should run');
  addCommand(group, 'list', 'all configurations, and files that are broken').action(
    (options: SharedOptions) => list(context, options),
  );
  addCommand(group, 'show <name>', 'the content in force, with every default').action(
    (name: string, options: SharedOptions) => {
      const { configuration } = findConfiguration(dependencies, name);
      return show(
        context,
        options,
        () => configuration,
        () => JSON.stringify(configuration, null, 2),
      );
    },
  );
  addCommand(group, 'reload', 'read all files again now, and say what changed').action(
    (options: SharedOptions) => reload(context, options),
  );
  addCommand(group, 'why <name>', 'why its instances are as they are, and what happens next').action(
    (name: string, options: SharedOptions) => why(context, name, options),
  );
  addCommand(group, 'diff <name>', 'the file and the instances against what is in force').action(
    async (name: string, options: SharedOptions) => {
      const diff = await diffOf(dependencies, name);
      await show(
        context,
        options,
        () => diff,
        () => describeDiff(diff),
      );
    },
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const { configurations, configurationFiles } = context.dependencies;
  const errors = configurationFiles.errors();
  const broken = new Set(errors.map(({ file }) => file));
  const counts = countInstances(visibleInstances(context.dependencies));
  const listed = [...configurations.entries()]
    .map(([, { value }]) => summaryOf(value, counts.get(value.configuration.name), broken))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const data = (): unknown => ({ configurations: listed, brokenFiles: errors });
  await show(context, options, data, async () => {
    const rows = listed.map((summary) => [
      summary.name,
      summary.runtime,
      summary.online,
      summary.instances,
      summary.minimum,
      `${summary.ramMB} MB`,
      summary.cpu,
      summary.ports,
      summary.file,
      summary.isFileBroken ? 'file broken' : 'ok',
    ]);
    const table = await tableOf(context, HEAD, rows, 'there are no configurations');
    return errors.length === 0 ? table : [table, '', ...describeFileErrors(errors)].join('\n');
  });
}

interface Summary {
  readonly name: string;
  readonly runtime: string;
  readonly online: number;
  readonly instances: number;
  readonly minimum: number;
  readonly ramMB: number;
  readonly cpu: number;
  readonly ports: string | null;
  readonly file: string;
  readonly isFileBroken: boolean;
}

function summaryOf(
  { configuration, sourceFile }: ConfigurationRecord,
  count: Count | undefined,
  broken: ReadonlySet<string>,
): Summary {
  const { name, runtime, minimumServiceCount: minimum, ramMB, cpu } = configuration;
  return {
    name,
    runtime,
    online: count?.online ?? 0,
    instances: count?.all ?? 0,
    minimum,
    ramMB,
    cpu,
    ports: portsOf(configuration),
    file: sourceFile,
    isFileBroken: broken.has(sourceFile),
  };
}

function portsOf({ availablePorts }: Configuration): string | null {
  return availablePorts === undefined ? null : `${availablePorts.min}-${availablePorts.max}`;
}

interface Count {
  readonly online: number;
  /** Ended, and not started again by their restart policy. */
  readonly finished: number;
  readonly all: number;
}

/** Instances by the name of their configuration. */
export function countInstances(records: Iterable<InstanceRecord>): Map<string, Count> {
  const counts = new Map<string, Count>();
  for (const record of records) {
    const { configurationName, status } = record;
    const { online, finished, all } = counts.get(configurationName) ?? { online: 0, finished: 0, all: 0 };
    counts.set(configurationName, {
      online: online + (status.state === 'ONLINE' ? 1 : 0),
      finished: finished + (hasFinished(record) ? 1 : 0),
      all: all + 1,
    });
  }
  return counts;
}

async function why(context: CommandContext, name: string, options: SharedOptions): Promise<void> {
  const { dependencies } = context;
  const explanation = await dependencies.explainer.configuration(name).catch((error: unknown) => {
    throw DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN')
      ? unknownConfiguration(dependencies, name)
      : error;
  });
  await show(
    context,
    options,
    () => explanation,
    () => renderConfigurationExplanation(explanation),
  );
}

async function reload(context: CommandContext, options: SharedOptions): Promise<void> {
  const { configurations, configurationFiles } = context.dependencies;
  const before = hashesOf(configurations.entries());
  await configurationFiles.reload();
  const after = hashesOf(configurations.entries());
  const changes = {
    added: [...after.keys()].filter((name) => !before.has(name)).sort(),
    changed: [...after.keys()]
      .filter((name) => before.has(name) && before.get(name) !== after.get(name))
      .sort(),
    removed: [...before.keys()].filter((name) => !after.has(name)).sort(),
  };
  const errors = configurationFiles.errors();
  await show(
    context,
    options,
    () => ({ ...changes, brokenFiles: errors, configurations: after.size }),
    () => {
      const lines = Object.entries(changes)
        .filter(([, names]) => names.length > 0)
        .map(([change, names]) => `${change}: ${names.join(', ')}`);
      const total = after.size === 1 ? '1 configuration is' : `${after.size} configurations are`;
      const head =
        lines.length === 0 ? [`nothing changed; ${total} in force`] : [...lines, `${total} in force`];
      return [...head, ...describeFileErrors(errors)].join('\n');
    },
  );
}

function hashesOf(entries: Iterable<[string, { readonly value: ConfigurationRecord }]>): Map<string, string> {
  const hashes = new Map<string, string>();
  for (const [name, { value }] of entries) hashes.set(name, value.hash);
  return hashes;
}
