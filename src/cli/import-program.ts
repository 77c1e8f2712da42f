/** The arguments and options of `drover import`. The code behind them is loaded when the command is called. */
import { type Command, Option } from 'commander';
import type { ImportOptions } from '../../tools/import/import.js';

export function addImportCommands(program: Command): void {
  const group = program
    .command('import')
    .description('take over what another tool runs, as files of a root; needs no master, overwrites nothing');

  withOptions(
    group
      .command('universe')
      .description('from a directory of Universe: its config.json, configuration/ and templates/')
      .argument('<directory>', 'that directory; nothing in it is changed'),
  ).action(async (directory: string, options: ImportOptions) => {
    const { importUniverse } = await import('../../tools/import/import-command.js');
    await importUniverse(directory, options);
  });

  withOptions(
    group
      .command('pm2')
      .description('from a list of pm2: an ecosystem file in JSON, or the dump.pm2 that "pm2 save" writes')
      .argument('<file>', 'that file; nothing in it is evaluated')
      .option('--env <name>', 'lay env_<name> of the apps over their env'),
  ).action(async (file: string, options: ImportOptions & { env?: string }) => {
    const { importPm2 } = await import('../../tools/import/import-command.js');
    await importPm2(file, options);
  });
}

function withOptions(command: Command): Command {
  return command
    .option('--root <directory>', "the node's directory to write to", '.')
    .option('--dry-run', 'write nothing, and print the same report', false)
    .addOption(
      new Option('-o, --output <format>', 'how the report is printed')
        .choices(['text', 'json'])
        .default('text'),
    );
}
