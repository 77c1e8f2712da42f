/** `drover completion`, and the hidden command that its scripts ask. */
import { Argument, type Command } from 'commander';
import { plainLines } from '../../command-tree/printed-text.js';
import { ClientError } from '../../command-tree/runs/client-error.js';
import { SHELLS, type Shell, scriptOf } from '../completion/scripts.js';
import { write } from '../print.js';
import type { ClientHost } from './client-host.js';

export function addCompletion(program: Command, host: ClientHost): void {
  const { stdout } = host.surroundings;
  program
    .command('completion')
    .description('print a script that completes commands and names: source <(drover completion bash)')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .action(async (shell: Shell) => {
      await write(stdout, scriptOf(shell));
    });
  program
    .command('__complete <line>', { hidden: true })
    .description('what can complete a line, for the scripts of "completion"')
    .helpOption(false)
    .action(async (line: string) => {
      const { completeLine } = await import('../completion/complete-line.js');
      const found = await completeLine(program, host.surroundings.environment, line);
      await write(stdout, found.map(({ word, about }) => plainLines(`${word}\t${about}`)).join(''));
      // At once: nothing waits for a master that did not answer in time.
      throw new ClientError(0, '');
    });
}
