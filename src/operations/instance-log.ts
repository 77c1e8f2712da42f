/** Reads a part of an instance's log, for the command and the route. */

import { z } from 'zod';
import type { LogPart } from '../channel/services/log-ranges.js';
import { timestampsOf } from '../logs/line-times.js';
import type { InstanceRecord } from '../model/instance.js';
import type { Reads } from './reads.js';

interface LogQuestion extends LogPart {
  readonly timestamps: boolean;
}

const lineNumber = z.int();

export const instanceLogSchema = z.object({
  lines: z.array(z.string()),
  totalLines: z.int(),
  instanceId: z.string(),
  firstLine: lineNumber
    .optional()
    .describe(
      'the number of lines[0]; this field and the following ones are present only when since, until, timestamps or previous is given',
    ),
  range: z
    .object({ first: lineNumber, last: lineNumber })
    .optional()
    .describe('the first and the last line of the part; last is below first when the part is empty'),
  untimedLines: z
    .int()
    .optional()
    .describe('how many kept lines have no known time, so that a time cannot select them'),
  times: z
    .array(z.string().nullable())
    .optional()
    .describe('with timestamps: for each line the second (UTC) in which it was finished, or null'),
});
export type InstanceLog = z.output<typeof instanceLogSchema>;

/**
 * Reads the last lines of the log, or of the part that the question names. Throws DRV_NODE_DISCONNECTED, and
 * DRV_RUN_UNKNOWN when there is no previous run.
 */
export async function readInstanceLog(
  { streams }: Reads,
  record: InstanceRecord,
  { timestamps, ...part }: LogQuestion,
): Promise<InstanceLog> {
  const isPlain = part.since === undefined && part.until === undefined && !part.previous && !timestamps;
  const instanceId = record.id;
  if (isPlain) return { ...(await streams.readLogs(record, part.lines)), instanceId };
  const { first, last, firstLine, lines, times, untimedLines, totalLines } = await streams.readLogRange(
    record,
    part,
  );
  return {
    lines: [...lines],
    totalLines,
    instanceId,
    firstLine,
    range: { first, last },
    untimedLines,
    ...(timestamps && { times: timestampsOf(times, firstLine, lines.length) }),
  };
}
