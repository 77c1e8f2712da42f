/** Reads a part of an instance's log of any length, in pages by line number, and prints its lines. */

import type { InstanceLog } from '../../api/routes/instances/log-routes.js';
import type { InputOf } from '../../command-tree/commands.js';
import { pathPart } from '../../command-tree/runs/api-calls.js';
import { logQuery } from '../../command-tree/runs/instance-runs.js';
import { MAX_LOG_LINES } from '../../model/plain/command-limits.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { ApiClient } from '../api-client.js';
import type { LiveOutput } from './live-output.js';

type LogPoints = Pick<InputOf<'instance logs'>, 'since' | 'until' | 'timestamps' | 'previous'>;

export interface LogPart extends LogPoints {
  /** How many of the last lines to read; infinite: all lines. */
  readonly tail: number;
  /** True: the instance was removed, and its node may keep the log. Absent: false. */
  readonly isRemoved?: boolean;
}

/** Consecutive lines, or the numbers of lines that are no longer kept. */
export type LogPiece =
  | {
      readonly first: number;
      readonly lines: readonly string[];
      readonly times: readonly (string | null)[] | undefined;
    }
  | { readonly gap: { readonly first: number; readonly last: number } };

/** Yields lines from the oldest on, up to the line that is last at the first call. Throws a ClientError. */
export async function* readLogPart(api: ApiClient, id: string, part: LogPart): AsyncGenerator<LogPiece> {
  if (part.tail === 0) return;
  const newest = await ask(api, id, part, Math.min(part.tail, MAX_LOG_LINES));
  const { first, last } = rangeOf(newest);
  const end = firstOf(newest);
  const from = Math.max(first, last - part.tail + 1);
  const { timestamps, isRemoved = false } = part;
  yield* readLines(api, id, { from, to: end - 1, timestamps, isRemoved });
  if (newest.lines.length > 0) yield pieceOf(newest);
}

/**
 * Returns the number of the first line of a part. For an empty part, returns the number after the last line. Throws a
 * ClientError.
 */
export async function firstLineOf(api: ApiClient, id: string, part: LogPart): Promise<number> {
  const { first, last } = rangeOf(await ask(api, id, part, 1));
  return Math.max(first, last - part.tail + 1);
}

async function* readLines(
  api: ApiClient,
  id: string,
  {
    from,
    to,
    ...how
  }: { readonly from: number; readonly to: number } & Pick<LogPoints, 'timestamps'> &
    Pick<LogPart, 'isRemoved'>,
): AsyncGenerator<LogPiece> {
  let size = MAX_LOG_LINES;
  for (let next = from; next <= to; ) {
    const last = Math.min(next + size - 1, to);
    const points = { since: { line: next }, until: { line: last }, previous: false, ...how };
    const page = await ask(api, id, { ...points, tail: size }, size);
    const first = firstOf(page);
    if (page.lines.length > 0 && first > rangeOf(page).first && size > 1) {
      // The lines are very long, so the answer had room only for the last ones: ask for a smaller page.
      size = Math.ceil(size / 4);
      continue;
    }
    const isEmpty = page.lines.length === 0;
    if (isEmpty || first > next) yield { gap: { first: next, last: isEmpty ? last : first - 1 } };
    if (!isEmpty) yield pieceOf(page);
    next = isEmpty ? last + 1 : first + page.lines.length;
  }
}

function ask(api: ApiClient, id: string, part: LogPart, lines: number): Promise<InstanceLog> {
  // The answer gives the range of existing lines only for a request with bounds, so ask for everything from line 1.
  const isWhole = part.since === undefined && part.until === undefined && !part.previous;
  const since = isWhole ? { line: 1 } : part.since;
  const removed = part.isRemoved === true ? '&removed=true' : '';
  return api.get(`/instances/${pathPart(id)}/logs?${logQuery({ ...part, since, lines })}${removed}`);
}

function firstOf({ firstLine, totalLines, lines }: InstanceLog): number {
  return firstLine ?? totalLines - lines.length + 1;
}

function rangeOf(log: InstanceLog): NonNullable<InstanceLog['range']> {
  return log.range ?? { first: 1, last: log.totalLines };
}

function pieceOf(log: InstanceLog): LogPiece {
  return { first: firstOf(log), lines: log.lines, times: log.times };
}

const COLOUR = /(\x1b\[[\d;]{0,32}m)/;

/** The line with the colours that its program gave it, without any other control sequence. */
function withColoursOnly(line: string): string {
  const parts = line.split(COLOUR);
  const kept = parts.map((part, index) => (index % 2 === 1 ? part : toPlainText(part))).join('');
  return parts.length > 1 ? `${kept}\x1b[0m` : kept;
}

/** Printed instead of an unknown time. */
const NO_TIME = '-';

/** Prints a piece of an instance's log in plain text. Resolves with false when nobody reads the output any more. */
export type LogPrinter = (id: string, piece: LogPiece) => Promise<boolean>;

/** `isPrefixed`: each line begins with its instance, because there are several. */
export function logPrinter(output: LiveOutput, isPrefixed: boolean): LogPrinter {
  const plain = output.isColoured ? withColoursOnly : toPlainText;
  // The colour tells ids apart, so it comes from the id.
  const prefixOf = (id: string) =>
    output.isColoured ? `\x1b[${31 + (Number.parseInt(id, 36) % 6)}m[${id}]\x1b[0m` : `[${id}]`;
  return async (id, piece) => {
    if ('gap' in piece) {
      const { first, last } = piece.gap;
      const which = first === last ? `line ${first} is` : `lines ${first} to ${last} are`;
      output.say(`instance ${id}: ${which} no longer kept`);
      return true;
    }
    const { lines, times } = piece;
    const prefix = isPrefixed ? `${prefixOf(id)} ` : '';
    const texts = lines.map((line, index) => {
      const time = times === undefined ? '' : `${times[index] ?? NO_TIME} `;
      return `${prefix}${time}${plain(line)}\n`;
    });
    return output.write(texts.join(''));
  };
}
