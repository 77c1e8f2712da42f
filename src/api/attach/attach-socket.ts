/** `/instances/{id}/attach`: a raw terminal of one instance. It attaches before the upgrade, so that a refusal is an HTTP answer. */

import { z } from 'zod';
import { DroverError } from '../../model/errors.js';
import type { ApiDependencies } from '../dependencies.js';
import { actionOf } from '../gate/audit-entry.js';
import { accessOf } from '../gate/auth.js';
import { NODE_ERRORS } from '../routes/instances/instance-schemas.js';
import type { InstanceView } from '../routes/instances/instance-view.js';
import { ofInstance } from '../routes/subjects.js';
import type { SocketCall, SocketSpec } from '../sockets/socket.js';
import { lengthQuery, serveTerminal } from './attached-client.js';

const attachQuery = z.object({
  columns: lengthQuery.default(80).describe("the width of the client's window"),
  rows: lengthQuery.default(24).describe("the height of the client's window"),
});

type Params = z.output<typeof ofInstance.params>;
type Query = z.output<typeof attachQuery>;

export function attachSocket(needs: ApiDependencies, view: InstanceView): SocketSpec<Params, Query> {
  return {
    path: '/instances/:id/attach',
    scope: 'OPERATE',
    ...ofInstance,
    summary: 'A raw terminal of an instance.',
    frames:
      'Binary frames are bytes of the terminal: from the client what is typed, from the server output, first of all a ' +
      'first screen. Text frames are JSON. Client: `{"type":"resize","columns":120,"rows":40}`. Server: ' +
      '`{"type":"attached","isTransparent":true}` before everything else, `{"type":"refused","message":...}` when input ' +
      'was not taken, and `{"type":"ended","reason":...,"message":...}` before it closes: with 1000 when the instance ' +
      'ended (`exited`) or the session was detached on its node (`left`), with 1013 when the client read too slowly ' +
      '(`too-slow`), with 1011 when the way to the instance broke (`lost`).',
    errors: [
      'DRV_INSTANCE_NOT_RUNNING',
      'DRV_INSTANCE_NOT_ATTACHABLE',
      'DRV_RUNTIME_UNAVAILABLE',
      ...NODE_ERRORS,
    ],
    query: attachQuery,
    open: async (call) => {
      const gone = new AbortController();
      call.request.raw.socket.once('close', () => gone.abort());
      const record = view.visible(call.params.id);
      try {
        const attachment = await needs.terminals.attach(record, call.query, gone.signal);
        note(needs, call, '101');
        return (socket) => void serveTerminal(socket, attachment);
      } catch (error) {
        if (error instanceof DroverError) note(needs, call, String(error.status));
        throw error;
      }
    },
  };
}

/** Records the attach in the audit trail like a write, because the caller gets control of the program's input. */
function note(
  { audit }: ApiDependencies,
  { request, params }: SocketCall<Params, Query>,
  result: string,
): void {
  const key = accessOf(request)?.name ?? null;
  audit.record({ key, action: actionOf(request), subject: params.id, address: request.ip, result });
}
