/** `/instances/{id}/live-log`: the lines of one instance as they are written, one line a frame. */
import { z } from 'zod';
import { visible } from '../routes/instance-routes.js';
import { instanceParams } from '../routes/instance-schemas.js';
import type { InstanceView } from '../routes/instance-view.js';
import type { SocketSpec } from '../sockets/socket.js';
import type { LiveLogs } from './live-logs.js';

const DEFAULT_TAIL = 100;
const MAX_TAIL = 1000;
const TAIL_RULE = `must be a whole number from 0 to ${MAX_TAIL}`;
const SINCE_RULE = 'must be a whole number from 1 on';
const FLAG = { error: 'must be true or false' };

const liveLogQuery = z
  .object({
    tail: z.coerce
      .number({ error: TAIL_RULE })
      .int(TAIL_RULE)
      .min(0, TAIL_RULE)
      .max(MAX_TAIL, TAIL_RULE)
      .optional()
      .describe(`begin with so many of the last lines; default ${DEFAULT_TAIL}`),
    since: z.coerce
      .number({ error: SINCE_RULE })
      .int(SINCE_RULE)
      .min(1, SINCE_RULE)
      .optional()
      .describe('begin with the line of this number, counted from 1; instead of tail'),
    numbered: z.enum(['true', 'false'], FLAG).default('false').describe('frames are `<number> <line>`'),
    ansi: z
      .enum(['true', 'false'], FLAG)
      .default('false')
      .describe('keep colours and other terminal sequences'),
  })
  .refine(({ tail, since }) => tail === undefined || since === undefined, {
    error: 'takes the place of tail: give one of them',
    path: ['since'],
  });

export interface LiveLogSocketOptions {
  readonly liveLogs: LiveLogs;
  readonly view: InstanceView;
}

export function liveLogSocket({
  liveLogs,
  view,
}: LiveLogSocketOptions): SocketSpec<z.output<typeof instanceParams>, z.output<typeof liveLogQuery>> {
  return {
    path: '/instances/:id/live-log',
    scope: 'READ',
    reach: 'instance',
    summary: 'The output of an instance as it is written.',
    frames:
      'Server: each text frame is one line. What Drover itself has to say begins with `[drover] ` and has no number: ' +
      'lines that are no longer kept, a node that is away, a log that begins anew on another node. Closes with 1000 ' +
      'when the instance was removed, after its last line. Frames of the client are ignored.',
    errors: ['DRV_INSTANCE_UNKNOWN'],
    params: instanceParams,
    query: liveLogQuery,
    open: ({ params, query }) => {
      const record = visible(view, params.id);
      const { tail = DEFAULT_TAIL, since, ansi, numbered } = query;
      const request = {
        start: since === undefined ? { tail } : { since },
        form: { isAnsi: ansi === 'true', isNumbered: numbered === 'true' },
      };
      return (socket) => {
        socket.onText(() => undefined);
        liveLogs.attach(socket, record, request);
      };
    },
  };
}
