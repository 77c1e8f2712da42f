/** `/instances/{id}/live-log`: the lines of one instance as they are written, one line per frame. */
import { z } from 'zod';
import type { InstanceRecord } from '../../model/instance.js';
import type { ApiDependencies } from '../dependencies.js';
import { flag, wholeNumber } from '../http/route.js';
import { checkLogPoints, logPoint, NODE_ERRORS } from '../routes/instances/instance-schemas.js';
import type { InstanceView } from '../routes/instances/instance-view.js';
import { ofInstance } from '../routes/subjects.js';
import { type ApiSocket, CLOSE, type SocketSpec } from '../sockets/socket.js';
import type { LineForm } from './live-log-chunk.js';
import type { LogRequest, LogSink } from './live-log-reader.js';
import type { LiveLogs } from './live-logs.js';

const DEFAULT_TAIL = 100;
const MAX_TAIL = 1000;

const liveLogQuery = z
  .object({
    tail: wholeNumber(0, MAX_TAIL)
      .optional()
      .describe(`how many of the last lines come first; default ${DEFAULT_TAIL}`),
    since: logPoint
      .optional()
      .describe(
        'begin with the line of this number, counted from 1, or with the first line since a time (2026-01-31T12:00:00Z) or an age (10m); instead of tail',
      ),
    until: logPoint
      .optional()
      .describe('close after the line of this number, or after the last line up to a time or an age'),
    numbered: flag.describe('frames are `<number> <line>`'),
    timestamps: flag.describe(
      'frames are `<time> <line>`, exact to the second; `-` stands for an unknown time',
    ),
    ansi: flag.describe('keep colours and other terminal sequences'),
  })
  .refine(({ tail, since }) => tail === undefined || since === undefined, {
    error: 'takes the place of tail: give one of them',
    path: ['since'],
  })
  .superRefine(checkLogPoints);
type LiveLogQuery = z.output<typeof liveLogQuery>;

export function liveLogSocket(
  { streams }: ApiDependencies,
  liveLogs: LiveLogs,
  view: InstanceView,
): SocketSpec<z.output<typeof ofInstance.params>, LiveLogQuery> {
  return {
    path: '/instances/:id/live-log',
    scope: 'READ',
    ...ofInstance,
    summary: 'The output of an instance as it is written.',
    frames:
      'Server: each text frame is one line. A message of Drover itself begins with `[drover] ` and has no number: ' +
      'lines that are no longer kept, a node that is away, a log that begins anew on another node. Closes with 1000 ' +
      'when the instance was removed, after its last line, and after the last line that was asked for. Frames of the client are ignored.',
    errors: ['DRV_NOT_IMPLEMENTED', ...NODE_ERRORS],
    query: liveLogQuery,
    open: async ({ params, query }) => {
      const record = view.visible(params.id);
      const form = {
        isAnsi: query.ansi === 'true',
        isNumbered: query.numbered === 'true',
        isTimed: query.timestamps === 'true',
      };
      const request = { ...(await boundsOf(streams, record, query)), isTimed: form.isTimed };
      return (socket) => {
        socket.onText(() => undefined);
        liveLogs.attach(sinkOf(socket, form), record, request);
      };
    },
  };
}

function sinkOf(socket: ApiSocket, form: LineForm): LogSink {
  return {
    signal: socket.signal,
    outlet: socket,
    begin: () => undefined,
    send: (chunk, from, to) => socket.sendFrames(chunk.frames(from, to, form)),
    say: (text) => socket.sendText(text),
    end: (reason) => socket.close(CLOSE.normal, reason),
    fail: () => socket.close(CLOSE.fault, 'unexpected fault of the server'),
  };
}

/**
 * The bounds of the wanted lines. Times become line numbers before the upgrade, so that a node without times is
 * answered with an HTTP error.
 */
async function boundsOf(
  streams: ApiDependencies['streams'],
  record: InstanceRecord,
  { tail = DEFAULT_TAIL, since, until, timestamps }: LiveLogQuery,
): Promise<Pick<LogRequest, 'start' | 'last'>> {
  const sinceLine = since !== undefined && 'line' in since ? since.line : undefined;
  const untilLine = until !== undefined && 'line' in until ? until.line : undefined;
  const isKnown = (since === undefined) === (sinceLine === undefined) && until === undefined;
  const areLines = sinceLine !== undefined && untilLine !== undefined;
  if ((isKnown || areLines) && timestamps === 'false')
    return { start: sinceLine === undefined ? { tail } : { since: sinceLine }, last: untilLine };
  const found = await streams.readLogRange(record, { since, until, previous: false, lines: 0 });
  // An unfinished last line does not count: a live log shows a line only when it is finished.
  const end = found.isUnfinished && found.last === found.totalLines ? found.last - 1 : found.last;
  const last = until === undefined ? undefined : (untilLine ?? end);
  if (since !== undefined) return { start: { since: sinceLine ?? found.first }, last };
  return { start: last === undefined ? { tail } : { since: Math.max(found.first, end - tail + 1) }, last };
}
