/**
 * Commands of extensions: `drover greet bob`. Only the master knows them: the client asks the master when the first
 * word is none of Drover's commands.
 */
import { type Command, CommanderError } from 'commander';
import { nearestName } from '../../configuration-files/nearest-name.js';
import type { ClientHost, ClientOptions } from './client-host.js';

export function addExtensionCommands(program: Command, host: ClientHost): void {
  // Words after an extension's command belong to that command, options included.
  program.passThroughOptions();
  const command = program
    // The parser's name for any unknown command.
    .command('*', { hidden: true })
    .argument('[words...]')
    .helpOption(false);
  host.addTarget(command);
  command.action(async ([name = '', ...words]: readonly string[]) => {
    const options = command.opts<ClientOptions>();
    const { runExtensionCommand } = await import('./extension-runs.js');
    if (!(await runExtensionCommand(host, options, [name, ...words]))) throw unknownCommand(program, name);
  });
}

function unknownCommand(program: Command, name: string): CommanderError {
  const names = program
    .createHelp()
    .visibleCommands(program)
    .map((known) => known.name());
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : `\n(Did you mean ${nearest}?)`;
  return new CommanderError(1, 'commander.unknownCommand', `error: unknown command '${name}'${hint}`);
}
