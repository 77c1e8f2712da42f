/** `drover logs`: its words. What it does is in `live/logs.ts`. */
import { type Command, InvalidArgumentError } from 'commander';
import { declareLogParts } from '../../command-tree/groups/instance-logs.js';
import { ClientError, EXIT } from '../../command-tree/runs/client-error.js';
import type { LogPoint } from '../../logs/log-batch.js';
import { DEFAULT_LOG_LINES } from '../../model/plain/command-limits.js';
import { logPointsProblem } from '../../operations/log-point.js';
import type { TargetOptions } from '../contexts/choose-target.js';
import type { ClientHost } from './client-host.js';

interface LogsOptions extends TargetOptions {
  readonly follow?: true;
  readonly tail?: number;
  readonly since?: LogPoint;
  readonly until?: LogPoint;
  readonly timestamps?: true;
  readonly previous?: true;
}

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
    const { follow = false, since, until, timestamps = false, previous = false } = options;
    const problem = problemOf(options);
    if (problem !== undefined) throw new ClientError(EXIT.usage, problem);
    const isPart = since !== undefined || until !== undefined || previous;
    const tail = options.tail ?? (isPart ? Number.POSITIVE_INFINITY : DEFAULT_LOG_LINES);
    const { followLogs, printLogs } = await import('../live/logs.js');
    const api = await host.open(options);
    const show = follow ? followLogs : printLogs;
    await show(api, name, { since, until, timestamps, previous, tail }, await host.liveOutput());
  });
}

function problemOf({ follow, since, until, previous }: LogsOptions): string | undefined {
  if (follow === true && until !== undefined)
    return '--until ends the log, and --follow goes on: give one of them';
  if (follow === true && previous === true)
    return '--previous is a run that has ended, and --follow goes on: give one of them';
  const problem = logPointsProblem(since, until);
  return problem === undefined ? undefined : `--until ${problem}`;
}

function lineCount(text: string): number {
  if (text === 'all') return Number.POSITIVE_INFINITY;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number, or all.');
}
