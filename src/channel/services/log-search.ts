/**
 * Searches of an instance's log, over the channel. The wrapper's half answers, the master's half asks through
 * `InstanceStreams`.
 */
import { z } from 'zod';
import type { FoundLines, LogSearchQuery } from '../../logs/search/log-search.js';
import { DroverError } from '../../model/errors.js';
import { instanceIdSchema } from '../../model/names.js';
import type { CallPeer, Services } from '../protocol/calls.js';
import { MOST_LONG_ANSWER_BYTES } from '../protocol/frame-codec.js';

const SEARCH_LOG = 'search-log';
export const MOST_FOUND = 1000;
export const MOST_PATTERN_CHARS = 1000;
/** The most searches of a node at once: each reads files and takes processor time. */
const MOST_SEARCHES = 16;

const questionSchema = z.object({
  id: instanceIdSchema,
  pattern: z.string().min(1).max(MOST_PATTERN_CHARS),
  ignoreCase: z.boolean(),
  before: z.int().min(1).optional(),
  limit: z.int().min(1).max(MOST_FOUND),
});
const answerSchema = z.object({
  lines: z.array(z.object({ line: z.int(), text: z.string() })).max(MOST_FOUND),
  next: z.int().nullable(),
});

/** The wrapper's half. Refuses with DRV_LOG_SEARCH_LIMIT when too many searches are under way. */
export function logSearchServices(
  search: (id: string, query: LogSearchQuery, signal: AbortSignal) => Promise<FoundLines>,
): Services {
  let underWay = 0;
  return {
    [SEARCH_LOG]: async (parameters, { signal }) => {
      const { id, ...query } = questionSchema.parse(parameters);
      if (underWay >= MOST_SEARCHES)
        throw new DroverError(
          'DRV_LOG_SEARCH_LIMIT',
          `the node searches ${MOST_SEARCHES} logs now, the most there may be at once: try again in a moment`,
        );
      underWay++;
      try {
        return await search(id, query, signal);
      } finally {
        underWay--;
      }
    },
  };
}

/** Asks a node to search a log. Throws the node's errors. */
export async function askForSearch(
  calls: CallPeer,
  question: LogSearchQuery & { readonly id: string },
): Promise<FoundLines> {
  return answerSchema.parse(await calls.call(SEARCH_LOG, question, { mostBytes: MOST_LONG_ANSWER_BYTES }));
}
