/** `drover top`: its words. What it does is in `live/top.ts`. */
import { type Command, Option } from 'commander';
import type { ClientHost, ClientOptions } from './client-host.js';

interface TopOptions extends ClientOptions {
  readonly sort: 'cpu' | 'memory';
  readonly once?: true;
}

export function addTop(program: Command, host: ClientHost): void {
  const command = program
    .command('top [configuration]')
    .description('what instances use of CPU and memory; live on a terminal, else once')
    .addOption(new Option('--sort <by>', 'what the most is of').choices(['cpu', 'memory']).default('cpu'))
    .option('--once', 'also on a terminal');
  host.addOutput(command);
  host.addTarget(command);
  command.action(async (configuration: string | undefined, options: TopOptions) => {
    const { top } = await import('../live/top.js');
    const { output: format, once = false, sort } = options;
    const { stdout } = host.surroundings;
    const isLive = stdout.isTTY === true && !once && (format === 'table' || format === 'wide');
    const terminal = isLive ? stdout : undefined;
    await top(await host.open(options), { configuration, sort, format, terminal }, await host.liveOutput());
  });
}
