/** `config ...`: what should run, which content is in force, and which files are broken. */
import type { Command } from 'commander';
import { fileWarningText } from '../../configuration-files/file-warnings.js';
import { renderConfigurationExplanation } from '../../explain/render.js';
import { withEveryDefault } from '../../model/configuration.js';
import { DroverError } from '../../model/errors.js';
import { countText } from '../../model/words.js';
import { diffOf } from '../../operations/configuration-diff.js';
import {
  type ConfigurationSummary,
  listConfigurations,
  listRemoved,
} from '../../operations/configuration-list.js';
import { reloadConfigurations } from '../../operations/configuration-reload.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';
import { describeFileErrors, describeRemoved, describeWarnings } from '../file-errors.js';
import { findConfiguration, unknownConfiguration } from '../find.js';
import { describeDiff } from './config-diff.js';

const HEAD = ['NAME', 'RUNTIME', 'ONLINE', 'INSTANCES', 'MINIMUM', 'RAM', 'CPU', 'PORTS', 'FILE', 'STATUS'];

export function addConfigCommands(program: Command, context: CommandContext): void {
  const { dependencies } = context;
  const group = program.command('config').description('configurations: what should run');
  addCommand(group, 'list', 'all configurations, and files that are broken').action(
    (options: SharedOptions) => list(context, options),
  );
  addCommand(group, 'show <name>', 'the content in force, with every default').action(
    (name: string, options: SharedOptions) => {
      const configuration = withEveryDefault(findConfiguration(dependencies, name).configuration);
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
      findConfiguration(dependencies, name);
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
  const errors = context.dependencies.configurationFiles.errors();
  const listed = listConfigurations(context.dependencies);
  const removed = listRemoved(context.dependencies);
  const data = (): unknown => ({ configurations: listed, removed, brokenFiles: errors });
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
      statusOf(summary),
    ]);
    const table = await tableOf(context, HEAD, rows, 'there are no configurations');
    const warnings = listed.flatMap((summary) => summary.warnings.map((text) => `${summary.name}: ${text}`));
    const below = [...describeFileErrors(errors), ...describeWarnings(warnings)];
    return [table, ...describeRemoved(removed), ...(below.length === 0 ? [] : ['', ...below])].join('\n');
  });
}

function statusOf({ isFileBroken, warnings }: ConfigurationSummary): string {
  if (isFileBroken) return 'file broken';
  return warnings.length === 0 ? 'ok' : countText(warnings.length, 'warning');
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
  const reloaded = await reloadConfigurations(context.dependencies);
  const { added, changed, removed, brokenFiles, warnings, configurations } = reloaded;
  await show(
    context,
    options,
    () => reloaded,
    () => {
      const lines = Object.entries({ added, changed, removed })
        .filter(([, names]) => names.length > 0)
        .map(([change, names]) => `${change}: ${names.join(', ')}`);
      const total = countText(configurations, 'configuration is', 'configurations are');
      const head =
        lines.length === 0 ? [`nothing changed; ${total} in force`] : [...lines, `${total} in force`];
      const below = [...describeFileErrors(brokenFiles), ...describeWarnings(warnings.map(fileWarningText))];
      return [...head, ...below].join('\n');
    },
  );
}
