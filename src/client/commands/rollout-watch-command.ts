/** `drover rollout watch`: its words. What it does is in `live/rollout-watch.ts`. */
import type { Command } from 'commander';
import { GROUPS } from '../../command-tree/commands.js';
import type { ClientHost, ClientOptions } from './client-host.js';

/** A command of the group that the console has, too. */
export function addRolloutWatch(program: Command, host: ClientHost): void {
  const group =
    program.commands.find((command) => command.name() === 'rollout') ??
    program.command('rollout').description(GROUPS.rollout ?? '');
  const command = group
    .command('watch <name>')
    .description('say each step of a rollout until it ends; exit code 1 unless it is complete then');
  host.addOutput(command);
  host.addTarget(command);
  command.action(async (name: string, options: ClientOptions) => {
    const { watchRollout } = await import('../live/rollout-watch.js');
    const isJson = options.output === 'json';
    await watchRollout(await host.open(options), { name, isJson }, await host.liveOutput());
  });
}
