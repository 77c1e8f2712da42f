/** `/instances/{id}/logs/search`: searches all kept lines of a log. */

import { z } from 'zod';
import { MOST_FOUND, MOST_PATTERN_CHARS } from '../../channel/services/log-search.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import { defineRoute } from '../http/route.js';
import { visible } from './instances/instance-routes.js';
import { flag, instanceParams } from './instances/instance-schemas.js';

const searchQuery = z.object({
  q: z
    .string()
    .min(1)
    .max(MOST_PATTERN_CHARS)
    .describe('the text to find in a line; `*` stands for any characters; escape sequences do not count'),
  ignoreCase: flag.describe('treat small and capital letters as equal'),
  before: z.coerce
    .number()
    .int()
    .min(1)
    .optional()
    .describe('only lines with a lower number; absent: from the end of the log'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_FOUND)
    .default(100)
    .describe('how many lines one answer holds at most'),
  ansi: flag.describe('keep colours and other terminal sequences'),
});

const foundSchema = z.object({
  instanceId: z.string(),
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

export const logSearchRoute = defineRoute({
  method: 'GET',
  path: '/instances/:id/logs/search',
  scope: 'READ',
  reach: 'instance',
  summary: 'Searches the log of an instance from its end, a part with each call.',
  errors: [
    'DRV_INSTANCE_UNKNOWN',
    'DRV_LOG_SEARCH_LIMIT',
    'DRV_NODE_DISCONNECTED',
    'DRV_CHANNEL_CALL_FAILED',
    'DRV_NOT_IMPLEMENTED',
  ],
  params: instanceParams,
  query: searchQuery,
  answers: { 200: { description: 'lines', schema: foundSchema } },
  handle: async ({ params, query }, { streams, view }) => {
    const { q: pattern, before, limit } = query;
    const record = visible(view, params.id);
    const asked = { pattern, ignoreCase: query.ignoreCase === 'true', before, limit };
    const { lines, next } = await streams.searchLog(record, asked);
    const textOf = query.ansi === 'true' ? (text: string) => text : toPlainText;
    return {
      instanceId: record.id,
      lines: lines.map(({ line, text }) => ({ line, text: textOf(text) })),
      next,
    };
  },
});
