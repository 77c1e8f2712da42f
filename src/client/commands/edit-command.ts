/** `edit config`: a configuration in an editor. What it does is in `configurations/edit.ts`. */
import { tmpdir } from 'node:os';
import type { Command } from 'commander';
import type { ClientHost, ClientOptions } from './client-host.js';

export function addEdit(program: Command, host: ClientHost): void {
  const edit = program
    .command('edit')
    .description('change something in your editor: $VISUAL, else $EDITOR, else vi')
    .helpCommand('help', 'show this');
  const command = edit
    .command('config')
    .aliases(['configs', 'configuration', 'configurations'])
    .description('change a configuration in your editor; what others changed meanwhile is not overwritten')
    .argument('<name>');
  host.addOutput(command);
  host.addTarget(command);
  command.action(async (name: string) => {
    const options = command.optsWithGlobals<ClientOptions>();
    const [{ editConfiguration }, { Editor }] = await Promise.all([
      import('../configurations/edit.js'),
      import('../configurations/editor.js'),
    ]);
    const { environment } = host.surroundings;
    const editor = new Editor(environment);
    const directory = environment.TMPDIR || tmpdir();
    const api = await host.open(options);
    const say = await host.sayer();
    const edited = await editConfiguration({ api, name, editor, directory, say });
    const shown = {
      json: () => edited,
      text: () => `${name} ${edited.result}`,
      names: () => [name],
    };
    await host.print(shown, options.output, api.now);
  });
}
