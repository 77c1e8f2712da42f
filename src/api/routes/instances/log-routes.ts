/** `/instances/{id}/logs`, a part of a log, and `/instances/{id}/logs/search`, which searches all kept lines. */

import { z } from 'zod';
import { MOST_FOUND, MOST_PATTERN_CHARS } from '../../../channel/services/log-search.js';
import { timestampsOf } from '../../../logs/line-times.js';
import { shownInstanceId } from '../../../model/names.js';
import { toPlainText } from '../../../telemetry/plain-text.js';
import { defineRoute, flag, jsonAnswer, wholeNumber } from '../../http/route.js';
import { ofInstance } from '../subjects.js';
import { logsQuery, NODE_ERRORS } from './instance-schemas.js';

const lineNumber = z.int();

export const instanceLogSchema = z.object({
  lines: z.array(z.string()),
  totalLines: z.int(),
  instanceId: shownInstanceId,
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

export const logRoute = defineRoute('GET', '/instances/:id/logs', {
  scope: 'READ',
  ...ofInstance,
  summary: 'The last lines of the output, or of a part of it.',
  errors: ['DRV_NOT_IMPLEMENTED', 'DRV_RUN_UNKNOWN', ...NODE_ERRORS],
  query: logsQuery,
  answers: jsonAnswer('lines, oldest first', instanceLogSchema),
  handle: async ({ params, query }, { streams, view }): Promise<InstanceLog> => {
    const record = query.removed === 'true' ? view.withLog(params.id) : view.visible(params.id);
    const { lines: most, since, until } = query;
    const timestamps = query.timestamps === 'true';
    const previous = query.previous === 'true';
    const shown = query.ansi === 'true' ? (text: string) => text : toPlainText;
    const instanceId = record.id;
    if (since === undefined && until === undefined && !previous && !timestamps) {
      const log = await streams.readLogs(record, most);
      return { ...log, lines: log.lines.map(shown), instanceId };
    }
    const { first, last, firstLine, lines, times, untimedLines, totalLines } = await streams.readLogRange(
      record,
      { since, until, previous, lines: most },
    );
    return {
      lines: lines.map(shown),
      totalLines,
      instanceId,
      firstLine,
      range: { first, last },
      untimedLines,
      ...(timestamps && { times: timestampsOf(times, firstLine, lines.length) }),
    };
  },
});

const searchQuery = z.object({
  q: z
    .string()
    .min(1)
    .max(MOST_PATTERN_CHARS)
    .describe('the text to find in a line; `*` stands for any characters; escape sequences do not count'),
  ignoreCase: flag.describe('treat small and capital letters as equal'),
  before: wholeNumber(1)
    .optional()
    .describe('only lines with a lower number; absent: from the end of the log'),
  limit: wholeNumber(1, MOST_FOUND).default(100).describe('how many lines one answer holds at most'),
  ansi: flag.describe('keep colours and other terminal sequences'),
});

const foundSchema = z.object({
  instanceId: shownInstanceId,
  lines: z
    .array(z.object({ line: z.int().describe('number of the line'), text: z.string() }))
    .describe('the newest first; fewer than `limit` when lines are very long'),
  next: z
    .int()
    .nullable()
    .describe(
      'the `before` of the next call, because one call searches 16 MiB; null: all kept lines were searched',
    ),
});
export type FoundInLog = z.output<typeof foundSchema>;

export const logSearchRoute = defineRoute('GET', '/instances/:id/logs/search', {
  scope: 'READ',
  ...ofInstance,
  summary: 'Searches the log of an instance from its end, a part with each call.',
  errors: ['DRV_LOG_SEARCH_LIMIT', 'DRV_NOT_IMPLEMENTED', ...NODE_ERRORS],
  query: searchQuery,
  answers: jsonAnswer('lines', foundSchema),
  handle: async ({ params, query }, { streams, view }) => {
    const { q: pattern, before, limit } = query;
    const ignoreCase = query.ignoreCase === 'true';
    const record = view.visible(params.id);
    const { lines, next } = await streams.searchLog(record, { pattern, ignoreCase, before, limit });
    const textOf = query.ansi === 'true' ? (text: string) => text : toPlainText;
    return {
      instanceId: record.id,
      lines: lines.map(({ line, text }) => ({ line, text: textOf(text) })),
      next,
    };
  },
});
