/** `drover cp`: its words and options. */
import type { Command } from 'commander';
import type { ClientHost, ClientOptions } from './client-host.js';

export function addCopyCommand(program: Command, host: ClientHost): void {
  const command = program
    .command('cp <from> <to>')
    .description(
      'copy files into a template or out of it: group/name:PATH is in a template, - is stdin or stdout',
    );
  host.addOutput(command, ['table', 'json', 'yaml']);
  host.addTarget(command);
  command.action(async (from: string, to: string) => {
    const options = command.optsWithGlobals<ClientOptions>();
    const { copyOf } = await import('../copy/copy-places.js');
    const wanted = copyOf(from, to);
    const api = await host.open(options);
    const { copy } = await import('../copy/copy.js');
    const { interruptible } = await import('../copy/interruptible.js');
    const shown = await interruptible((signal) => copy(api, wanted, process, signal));
    if (shown !== undefined) await host.print(shown, options.output, api.now);
  });
}
