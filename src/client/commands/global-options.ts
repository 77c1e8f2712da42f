/** Accepts some options before the command too: `drover --context prod instance list`. */
import type { Command, Option } from 'commander';
import { pathOf } from '../../command-tree/help/usage.js';
import { usageError } from '../../command-tree/runs/client-error.js';
import { quoteText } from '../../model/words.js';

/** Adds the global options to the program. Call it before commands are added. */
export function addGlobalOptions(program: Command): void {
  program
    // Otherwise the program would take options of the same name that belong to a command.
    .enablePositionalOptions()
    .option('-o, --output <format>', 'how a command prints, as after the command')
    .option('--context <name>', 'the master to talk to, as after the command')
    .option('--root <directory>', 'a directory of this machine, as after the command')
    .option('--color <when>', 'auto, always or never, as after the command')
    .hook('preAction', (_program, command) => {
      for (let group = command.parent; group !== null; group = group.parent) settle(command, group);
    });
}

/**
 * Brings an option that the command and its group share to one value. A value typed for the group goes to the
 * command, because the parser would otherwise prefer the group's default.
 */
function settle(command: Command, group: Command): void {
  for (const option of group.options) {
    const name = option.attributeName();
    const own = command.options.find((known) => known.long === option.long);
    if (group.getOptionValueSource(name) === 'cli')
      handDown(command, own, option, group.getOptionValue(name));
    if (own !== undefined) group.setOptionValue(name, command.getOptionValue(name));
  }
}

/** Sets the option on the command, as if it had been typed after the command. Throws a ClientError. */
function handDown(command: Command, own: Option | undefined, { long }: Option, value: unknown): void {
  if (own === undefined) throw usageError(`the option ${long} has no effect on "${pathOf(command)}"`);
  const name = own.attributeName();
  if (command.getOptionValueSource(name) === 'cli') {
    if (command.getOptionValue(name) === value) return;
    throw usageError(`the option ${long} is given twice`);
  }
  const { argChoices } = own;
  if (argChoices !== undefined && !argChoices.includes(String(value)))
    throw usageError(
      `option '${own.flags}' argument ${quoteText(String(value))} is invalid. Allowed choices are ${argChoices.join(', ')}`,
    );
  command.setOptionValueWithSource(name, value, 'cli');
}
