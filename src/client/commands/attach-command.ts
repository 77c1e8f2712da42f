/** `drover attach`: its words. What it does is in `live/attach.ts`. */
import type { Command } from 'commander';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import type { ClientHost } from './client-host.js';

export function addAttach(program: Command, host: ClientHost): void {
  const command = program
    .command('attach <id>')
    .description(
      'the terminal of an instance in this one; Ctrl-P Ctrl-Q leaves it, and the instance goes on',
    );
  host.addTarget(command);
  command.action(async (id: string, options: TargetOptions) => {
    const [{ attach }, { processRawTerminal }] = await Promise.all([
      import('../live/attach.js'),
      import('../live/raw-terminal.js'),
    ]);
    const terminal = processRawTerminal();
    if (terminal === undefined)
      throw new ClientError(
        EXIT.usage,
        'attach needs a terminal: "drover exec" writes a line to an instance, "drover logs -f" follows its output',
      );
    const { connection } = await host.open(options);
    const { say } = await host.liveOutput();
    say(await attach(connection, id, terminal));
  });
}
