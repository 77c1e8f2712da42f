/** Declares the arguments and options of `drover logs`; `live/logs.ts` runs it. */
import { type Command, InvalidArgumentError } from 'commander';
import { declareLogParts, type LogPartOptions, logPartOf } from '../../command-tree/groups/instance-logs.js';
import { usageError } from '../../command-tree/runs/client-error.js';
import { DEFAULT_LOG_LINES } from '../../model/plain/command-limits.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import type { ClientHost } from './client-host.js';

type LogsOptions = TargetOptions & LogPartOptions & { readonly follow?: true; readonly tail?: number };

export function addLogs(program: Command, host: ClientHost): void {
  const command = program
    .command('logs <id|configuration>')
    .description('the log of an instance, or of all instances of a configuration')
    .option('-f, --follow', 'go on with what is written, until the instance is removed or stopped')
    .option(
      '-n, --tail <count>',
      `how many of the last lines, or all; default ${DEFAULT_LOG_LINES}, or all with --since, --until or --previous`,
      lineCount,
    );
  declareLogParts(command);
  host.addTarget(command);
  command.action(async (name: string, options: LogsOptions) => {
    const { follow = false, until, previous } = options;
    if (follow && until !== undefined)
      throw usageError('--until ends the log, and --follow goes on: give one of them');
    if (follow && previous === true)
      throw usageError('--previous is a run that has ended, and --follow goes on: give one of them');
    const { part, isAll } = logPartOf(options);
    const tail = options.tail ?? (isAll ? Number.POSITIVE_INFINITY : DEFAULT_LOG_LINES);
    const { followLogs, printLogs } = await import('../live/logs.js');
    const api = await host.open(options);
    const show = follow ? followLogs : printLogs;
    await show(api, name, { ...part, tail }, await host.liveOutput());
  });
}

function lineCount(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number, or all.');
}
