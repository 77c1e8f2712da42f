/** `drover wait`: declares its arguments and options. `live/wait.ts` runs it. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../model/plain/duration.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import { GOALS, type Goal, KINDS, type Kind } from '../live/states.js';
import type { ClientHost } from './client-host.js';

const DEFAULT_MS = 60_000;
/** A timer cannot wait longer than 24.8 days. */
const MAX_MS = 24 * 24 * 3_600_000;

type WaitOptions = TargetOptions & { readonly for: Goal; readonly timeout: number };

export function addWait(program: Command, host: ClientHost): void {
  const command = program
    .command('wait')
    .description(
      'wait until instances, configurations, nodes or rollouts are as wanted; also for what is not there yet',
    )
    .addArgument(new Argument('<kind>', 'what they are').choices(KINDS))
    .argument('<name...>')
    .addOption(
      new Option('--for <state>', 'minimum: of a configuration; complete, ended: of a rollout')
        .choices(GOALS)
        .default('online'),
    )
    .option(
      '--timeout <time>',
      'then it says why, and ends with exit code 6; default 60s',
      duration,
      DEFAULT_MS,
    );
  host.addTarget(command);
  command.action(async (kind: Kind, names: readonly string[], options: WaitOptions) => {
    const { wait } = await import('../live/wait.js');
    const question = { kind, names, goal: options.for, timeoutMs: options.timeout };
    await wait(await host.open(options), question, await host.liveOutput());
  });
}

function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms !== undefined && ms <= MAX_MS) return ms;
  throw new InvalidArgumentError('It must be a length of time such as 30s, 10m or 2h, 24d at most.');
}
