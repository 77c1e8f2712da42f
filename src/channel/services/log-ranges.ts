/**
 * Parts of an instance's log and the times of its lines, over the channel. The wrapper's half answers, the master's half
 * asks through `InstanceStreams`.
 */
import { z } from 'zod';
import type { LogRange, LogRangeQuery } from '../../logs/log-range.js';
import { instanceIdSchema } from '../../model/names.js';
import type { CallPeer, Services } from '../protocol/calls.js';
import { MOST_LONG_ANSWER_BYTES } from '../protocol/frame-codec.js';

const READ_RANGE = 'read-log-range';
const READ_TIMES = 'read-log-times';
const MOST_LINES = 1000;
/** The most lines whose times are asked for at once; more than a batch of a followed log has. */
const MOST_TIMED_LINES = 10_000;

const lineNumber = z.int().min(1);
const count = z.int().min(0);
const logPointSchema = z.union([
  z.strictObject({ at: count }),
  z.strictObject({ ago: count }),
  z.strictObject({ line: lineNumber }),
]);
const rangeQuestionSchema = z.object({
  id: instanceIdSchema,
  since: logPointSchema.optional(),
  until: logPointSchema.optional(),
  /** True: only the output of the run before the present run. */
  previous: z.boolean(),
  lines: z.int().min(0).max(MOST_LINES),
});
const timesQuestionSchema = z
  .object({ id: instanceIdSchema, from: lineNumber, to: lineNumber })
  .refine(({ from, to }) => to - from < MOST_TIMED_LINES, { error: `at most ${MOST_TIMED_LINES} lines` });

const timesSchema = z.array(z.tuple([lineNumber, z.int().min(1).nullable()])).max(MOST_TIMED_LINES + 1);
const rangeSchema = z.object({
  first: lineNumber,
  last: count,
  firstLine: lineNumber,
  lines: z.array(z.string()).max(MOST_LINES),
  times: timesSchema,
  untimedLines: count,
  totalLines: count,
  isUnfinished: z.boolean(),
});

/** The part of a log that a client wants. */
export interface LogPart extends Pick<LogRangeQuery, 'since' | 'until' | 'lines'> {
  readonly previous: boolean;
  /** How many of the part's last lines are wanted, 0 to 1000. */
}

/** The part of an empty log. */
export const NO_LOG: LogRange = {
  first: 1,
  last: 0,
  firstLine: 1,
  lines: [],
  times: [],
  untimedLines: 0,
  totalLines: 0,
  isUnfinished: false,
};

/** The node's functions behind these calls. */
export interface LogRangeReader {
  /** Throws DRV_RUN_UNKNOWN. */
  readLogRange(id: string, part: LogPart): Promise<LogRange>;
  readLogTimes(id: string, from: number, to: number): Promise<LogRange['times']>;
}

/** The wrapper's half. `newestWithin` leaves out the oldest lines when an answer would be too long. */
export function logRangeServices(
  node: LogRangeReader,
  newestWithin: (lines: readonly string[]) => readonly string[],
): Services {
  return {
    [READ_RANGE]: async (parameters) => {
      const { id, ...part } = rangeQuestionSchema.parse(parameters);
      const found = await node.readLogRange(id, part);
      const lines = newestWithin(found.lines);
      return { ...found, lines, firstLine: found.firstLine + found.lines.length - lines.length };
    },
    [READ_TIMES]: async (parameters) => {
      const { id, from, to } = timesQuestionSchema.parse(parameters);
      return node.readLogTimes(id, from, to);
    },
  };
}

/** Asks a node for a part of a log. Throws the node's errors. */
export async function askForRange(calls: CallPeer, id: string, part: LogPart): Promise<LogRange> {
  return rangeSchema.parse(
    await calls.call(READ_RANGE, { id, ...part }, { mostBytes: MOST_LONG_ANSWER_BYTES }),
  );
}

/** Asks a node for the times of the lines from `from` to `to`, 10,000 lines at most. Throws the node's errors. */
export async function askForTimes(
  calls: CallPeer,
  question: { readonly id: string; readonly from: number; readonly to: number },
): Promise<LogRange['times']> {
  return timesSchema.parse(await calls.call(READ_TIMES, question, { mostBytes: MOST_LONG_ANSWER_BYTES }));
}
