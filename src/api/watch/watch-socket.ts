/** `/watch`: the state as it changes, over a WebSocket, and as lines over a plain GET. */

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { DroverError, invalidRequest } from '../../model/errors.js';
import { accessOf } from '../gate/auth.js';
import type { LineStream } from '../sockets/line-stream.js';
import { MessagePacket } from '../sockets/message-packet.js';
import { type ApiSocket, CLOSE, type SocketSpec } from '../sockets/socket.js';
import type { Sight } from './watch-filter.js';
import { errorText, MOST_NAMES, namesSchema, type Position, parseWatchRequest } from './watch-messages.js';
import { instanceOfLog } from './watched-log.js';
import type { Subscription, Watcher, WatchSink } from './watcher.js';
import type { Watchers } from './watchers.js';

const LINES_TYPE = 'application/x-ndjson; charset=utf-8';
const RESUMED_TOPIC = /^([^@]*)@([^:]*):(\d{1,15})$/;

const listed = z
  .string()
  .transform((text) => text.split(',').map((name) => name.trim()))
  .refine((names) => namesSchema.safeParse(names).success, {
    error: `must be ${MOST_NAMES} names at most with commas between them`,
  })
  .optional();

const watchQuery = z.object({
  subscribe: z
    .string()
    .optional()
    .describe(
      'topics separated by commas; `TOPIC@EPOCH:REVISION` goes on after the last message of that topic',
    ),
  configuration: listed.describe('only of these configurations; `*` stands for any characters'),
  node: listed.describe('only of these nodes'),
  state: listed.describe('only in these states'),
});
type WatchQuery = z.output<typeof watchQuery>;

export function watchSocket(watchers: Watchers): SocketSpec<unknown, WatchQuery> {
  return {
    path: '/watch',
    scope: 'READ',
    reach: 'filtered',
    summary: `The state as it changes: ${watchers.topics.join(', ')}, and logs.`,
    frames:
      'Client: `{"subscribe": TOPIC, "filter"?: {"configuration"?, "node"?, "state"?}, "resume"?: {"epoch", "revision"}}`, ' +
      '`{"subscribe": "log:ID", "log"?: {"tail"?, "since"?, "node"?, "timestamps"?, "ansi"?}}` ' +
      'or `{"unsubscribe": TOPIC}`. Server: each frame is an array of messages: `snapshot` (what is there, in parts; ' +
      '`last` in the last one), then `changes` with `put` and `gone`, at most one frame in 100 ms; `error`; `beat` after ' +
      '10 s without another one. Of a log: `log` with its `node` and the number of the `next` line, `lines` with the number of the `first`, `gap` of lines that are no longer kept, ' +
      '`note` of what Drover has to say, `end` when the instance was removed. Without an upgrade the answer is the same messages, a line each, for the topics of ' +
      '`subscribe`.',
    query: watchQuery,
    open: ({ query, request }) => {
      const asked = askedOf(query, sightOf(request), watchers);
      return (socket) => {
        const watcher = watchers.open(sinkOf(socket), socket.access);
        for (const { topic, subscription } of asked) watchers.subscribe(watcher, topic, subscription);
        socket.onText((text) => take(watchers, watcher, text));
      };
    },
    lines: {
      contentType: LINES_TYPE,
      open: ({ query, request }) => {
        const sight = sightOf(request);
        const asked = askedOf(query, sight, watchers);
        if (asked.length === 0)
          throw invalidRequest(`query field subscribe: name what to follow: ${watchers.topics.join(', ')}`);
        return (lines) => {
          const watcher = watchers.open(lineSinkOf(lines), sight);
          for (const { topic, subscription } of asked) watchers.subscribe(watcher, topic, subscription);
        };
      },
    },
  };
}

function sightOf(request: FastifyRequest): Sight {
  const access = accessOf(request);
  if (access === undefined) throw new Error('the gate lets in only callers with a key');
  return access;
}

interface Asked {
  readonly topic: string;
  readonly subscription: Subscription;
}

/** The subscriptions in the query. A filter applies to every topic that supports it. Throws DRV_REQUEST_INVALID. */
function askedOf(query: WatchQuery, sight: Sight, watchers: Watchers): readonly Asked[] {
  const asked = (query.subscribe ?? '').split(',').filter((text) => text.trim() !== '');
  const topics = asked.map((text) => topicOf(text.trim()));
  if (topics.some(({ name }) => instanceOfLog(name) !== undefined))
    throw invalidRequest(
      'query field subscribe: logs are followed by messages over the WebSocket: {"subscribe": "log:ID"}',
    );
  const taken = topics.map(({ name }) => watchers.filtersOf(name, sight));
  const { configuration, node, state } = query;
  const given = Object.entries({ configuration, node, state }).filter(([, names]) => names !== undefined);
  for (const [filter] of given)
    if (!taken.some((filters) => filters.some((name) => name === filter)))
      throw invalidRequest(`query field ${filter}: none of the topics of subscribe can be filtered by it`);
  return topics.map(({ name, resume }, index) => {
    const filter = Object.fromEntries(
      given.filter(([filter]) => taken[index]?.some((known) => known === filter)),
    );
    return { topic: name, subscription: { filter, resume } };
  });
}

function topicOf(text: string): { readonly name: string; readonly resume: Position | undefined } {
  const [, name, epoch, revision] = RESUMED_TOPIC.exec(text) ?? [];
  return name === undefined || epoch === undefined
    ? { name: text, resume: undefined }
    : { name, resume: { epoch, revision: Number(revision) } };
}

/** Carries out a message of the client. A wrong message gets an error as its answer, and changes nothing. */
function take(watchers: Watchers, watcher: Watcher, text: string): void {
  let topic: string | undefined;
  try {
    const request = parseWatchRequest(text);
    topic = 'unsubscribe' in request ? request.unsubscribe : request.subscribe;
    if ('unsubscribe' in request) watchers.unsubscribe(watcher, topic);
    else {
      const { subscribe, ...subscription } = request;
      watchers.subscribe(watcher, subscribe, subscription);
    }
  } catch (error) {
    if (!(error instanceof DroverError)) throw error;
    watcher.sink.send(new MessagePacket([errorText(error, topic)]));
  }
}

function sinkOf(socket: ApiSocket): WatchSink {
  return {
    outlet: socket,
    send: ({ frame }) => socket.sendFrames(frame),
    fail: () => socket.close(CLOSE.fault, 'unexpected fault of the server'),
  };
}

function lineSinkOf(stream: LineStream): WatchSink {
  return { outlet: stream, send: ({ lines }) => stream.write(lines), fail: () => stream.close() };
}
