/** `instance logs`: its options, and its text: notes about missing lines, then the lines. */
import { type Command, InvalidArgumentError } from 'commander';
import type { InstanceLog } from '../../api/routes/instances/log-routes.js';
import type { LogPoint } from '../../logs/log-batch.js';
import { DEFAULT_LOG_LINES, MAX_LOG_LINES } from '../../model/plain/command-limits.js';
import { countText } from '../../model/words.js';
import { logPointsProblem, parseLogPoint } from '../../operations/log-point.js';
import { invalid } from '../command.js';
import { wholeNumber } from '../parsers.js';

export interface LogPartOptions {
  readonly since?: LogPoint;
  readonly until?: LogPoint;
  readonly timestamps?: boolean;
  readonly previous?: boolean;
}

export function declareLogs(command: Command): void {
  command.option(
    '-n, --lines <count>',
    `how many, up to ${MAX_LOG_LINES}; default ${DEFAULT_LOG_LINES}, or ${MAX_LOG_LINES} with --since, --until or --previous`,
    wholeNumber(MAX_LOG_LINES),
  );
  declareLogParts(command);
}

/** Declares the options that choose a part of a log, and the option that prints times. */
export function declareLogParts(command: Command): void {
  command
    .option(
      '--since <when>',
      'not what came before: a time (2026-01-31T12:00:00Z), an age (10m), a line number',
      logPoint,
    )
    .option('--until <when>', 'not what came after, in the same forms', logPoint)
    .option('-t, --timestamps', 'when each line was written, to the second')
    .option('--previous', 'only what the run before the present one wrote');
}

/**
 * Checks the options that choose a part of a log. `isAll`: the default number of lines is then the largest one allowed.
 * Throws DRV_COMMAND_INVALID.
 */
export function logPartOf({ since, until, timestamps = false, previous = false }: LogPartOptions) {
  const problem = logPointsProblem(since, until);
  if (problem !== undefined) throw invalid(`--until ${problem}`);
  const isAll = since !== undefined || until !== undefined || previous;
  return { part: { since, until, timestamps, previous }, isAll };
}

export function logQuestionOf(id: string, options: LogPartOptions & { readonly lines?: number }) {
  const { part, isAll } = logPartOf(options);
  return { id, lines: options.lines ?? (isAll ? MAX_LOG_LINES : DEFAULT_LOG_LINES), ...part };
}

/** The log for people: notes about lines that are left out or have no time, then the lines. */
export function logText({ lines, times, range, firstLine = 1, untimedLines = 0 }: InstanceLog): string {
  const notes = [
    ...(untimedLines === 0
      ? []
      : [`[drover] when ${countText(untimedLines, 'line was', 'lines were')} written is not known`]),
    ...(range === undefined || range.first >= firstLine || lines.length === 0
      ? []
      : [
          `[drover] lines ${range.first} to ${firstLine - 1} are left out: see them with --until ${firstLine - 1}`,
        ]),
  ];
  const shown = times === undefined ? lines : lines.map((line, index) => `${times[index] ?? '-'} ${line}`);
  return [...notes, ...shown].join('\n');
}

/** Parses a point of the log. Throws the error that the parser prints. */
export function logPoint(text: string): LogPoint {
  const point = parseLogPoint(text);
  if ('problem' in point) throw new InvalidArgumentError(`It ${point.problem}.`);
  return point;
}
