/** `drover ui`: its words and options. */
import type { Command } from 'commander';
import { plainLines } from '../../command-tree/printed-text.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import { write } from '../print.js';
import type { ClientHost } from './client-host.js';

interface UiOptions extends TargetOptions {
  readonly print?: true;
}

export function addUi(program: Command, host: ClientHost): void {
  const command = program
    .command('ui')
    .description('open the dashboard in a browser, signed in; without a display it prints the link')
    .option('--print', 'print the link in any case');
  host.addTarget(command);
  command.action(async (options: UiOptions) => {
    const [{ makeLink }, { openBrowser }] = await Promise.all([
      import('../ui/sign-in-link.js'),
      import('../ui/open-browser.js'),
    ]);
    const { connection } = await host.open(options);
    const { page, link } = await makeLink(connection);
    const { environment, stdout } = host.surroundings;
    const say = await host.sayer();
    if (options.print !== true && (await openBrowser(link, environment))) {
      say(`a browser opens ${page}; if none does: drover ui --print`);
      return;
    }
    say('This link signs you in. It works once, for a minute:');
    await write(stdout, plainLines(link));
  });
}
