/** The messages of the change stream in both directions. */
import { z } from 'zod';
import { JsonTextError, readJsonText } from '../../configuration-files/json-position.js';
import { problemsText, readerOf } from '../../configuration-files/problems.js';
import { type DroverError, invalidRequest } from '../../model/errors.js';

export const MOST_NAMES = 100;
const MOST_CHARS = 200;

/** The names to filter by. */
export const namesSchema = z.array(z.string().min(1).max(MOST_CHARS)).min(1).max(MOST_NAMES);
const names = namesSchema.optional();

const filterSchema = z.strictObject({
  configuration: names.describe('names of configurations; `*` stands for any characters'),
  node: names.describe('ids of nodes'),
  state: names.describe('states of instances and of rollouts, conditions of nodes'),
});

const positionSchema = z.strictObject({
  epoch: z.string().describe('the epoch of the last message of that topic'),
  revision: z.int().min(0).describe('the revision of the last message of that topic'),
});
/** The place where a reader stopped: it has everything up to that revision. */
export type Position = z.output<typeof positionSchema>;

const topic = z.string().min(1).max(MOST_CHARS);
/** How many earlier lines of a log a client may ask for, as on the socket of a live log. */
const MOST_TAIL = 1000;

/** The options for the lines of a log. */
export const logOptionsSchema = z.strictObject({
  tail: z
    .int()
    .min(0)
    .max(MOST_TAIL)
    .optional()
    .describe('how many of the last lines come first; default 100'),
  since: z.int().min(1).optional().describe('begin with the line of this number; instead of tail'),
  node: z
    .string()
    .min(1)
    .max(MOST_CHARS)
    .optional()
    .describe(
      'with since: the number counts in the log on this node; if the instance is on another node now, the first line comes first',
    ),
  timestamps: z.boolean().default(false).describe('say when each line was written'),
  ansi: z.boolean().default(false).describe('keep colours and other terminal sequences'),
});
export type LogOptions = z.output<typeof logOptionsSchema>;

const beginSchema = z.strictObject({
  subscribe: topic,
  filter: filterSchema.optional(),
  resume: positionSchema.optional(),
  log: logOptionsSchema.optional(),
});
const endSchema = z.strictObject({ unsubscribe: topic });
type WatchRequest = z.output<typeof beginSchema> | z.output<typeof endSchema>;

const readBegin = readerOf(beginSchema);
const readEnd = readerOf(endSchema);
const FORMS = '{"subscribe": TOPIC, "filter"?, "resume"?, "log"?} or {"unsubscribe": TOPIC}';

/** Reads a message of the client. Throws DRV_REQUEST_INVALID with one clear line. */
export function parseWatchRequest(text: string): WatchRequest {
  const value = jsonIn(text);
  const isEnd = value !== null && typeof value === 'object' && 'unsubscribe' in value;
  const result = isEnd ? readEnd(value) : readBegin(value);
  if ('data' in result) return result.data;
  throw invalidRequest(`a message is ${FORMS}: ${problemsText(result.problems)}`);
}

function jsonIn(text: string): unknown {
  try {
    return readJsonText(text).value;
  } catch (error) {
    if (!(error instanceof JsonTextError)) throw error;
    throw invalidRequest(`this is no JSON (${error.message}): a message is ${FORMS}`);
  }
}

interface ChangesHead extends Position {
  readonly topic: string;
}

/** The fields of a part of a snapshot, without its entries. */
interface SnapshotPart {
  /** True when the client must first forget its entries. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
  /** Why a client that has entries gets all of them again. */
  readonly reason: string | undefined;
}

export function snapshotText(
  { topic, epoch, revision }: ChangesHead,
  put: readonly string[],
  { isFirst: first, isLast: last, reason }: SnapshotPart,
): string {
  const head = {
    type: 'snapshot',
    topic,
    epoch,
    revision,
    first,
    last,
    ...(reason !== undefined && { reason }),
  };
  return `${open(head)},"put":[${put.join(',')}]}`;
}

export function changesText(
  { topic, epoch, revision }: ChangesHead,
  put: readonly string[],
  gone: readonly string[],
): string {
  const head = { type: 'changes', topic, epoch, revision };
  return `${open(head)},"put":[${put.join(',')}],"gone":${JSON.stringify(gone)}}`;
}

/** The message of a refusal. `topic`: the topic of the refused message; undefined: the message named no topic. */
export function errorText({ message: error, code }: DroverError, topic?: string): string {
  return JSON.stringify({ type: 'error', topic, error, code });
}

/** The message that shows a living connection while nothing changes. */
export const BEAT_TEXT = JSON.stringify({ type: 'beat' });

function open(head: object): string {
  return JSON.stringify(head).slice(0, -1);
}
