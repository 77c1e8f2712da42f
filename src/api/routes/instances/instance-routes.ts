/**
 * `/instances`. Reads come from the encoded view, writes change the desired state, and the node answers for logs and
 * stdin.
 */

import { requireProcess, stdinCommand } from '../../../channel/services/stdin-command.js';
import { DroverError } from '../../../model/errors.js';
import { type InstanceRecord, instanceInfoSchema, toInstanceInfo } from '../../../model/instance.js';
import { isInstanceId } from '../../../model/names.js';
import { unknownConfiguration, unknownInstance } from '../../../model/unknown.js';
import { detailsOf, instanceDetailsSchema } from '../../../operations/instance-details.js';
import { changeLifecycle, deleteInstance } from '../../../operations/instance-lifecycle.js';
import { instanceLogSchema, readInstanceLog } from '../../../operations/instance-log.js';
import {
  updateBodySchema,
  updatedInstanceSchema,
  updateInstance,
} from '../../../operations/instance-update.js';
import type { StateReport } from '../../../state/instance-changes.js';
import { toPlainText } from '../../../telemetry/plain-text.js';
import { accessOf, seesConfiguration } from '../../gate/auth.js';
import { sendEncoded } from '../../http/json-reply.js';
import { defineRoute, type Route } from '../../http/route.js';
import {
  createBody,
  executeBody,
  executeMessage,
  instanceList,
  instanceMessage,
  instanceParams,
  lifecycleMessage,
  lifecycleQuery,
  logsQuery,
  stateBody,
} from './instance-schemas.js';
import type { InstanceView } from './instance-view.js';

export const instanceRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/instances',
    scope: 'READ',
    reach: 'filtered',
    summary: 'All instances, oldest first.',
    answers: { 200: { description: 'instances', schema: instanceList } },
    handle: ({ request }, { view }, reply) => sendEncoded(reply, view.list(accessOf(request))),
  }),
  defineRoute({
    method: 'POST',
    path: '/instances',
    scope: 'OPERATE',
    reach: 'filtered',
    summary: 'Makes an instance of a configuration.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: createBody,
    answers: { 201: { description: 'the new instance', schema: instanceInfoSchema } },
    handle: async ({ body, request }, { creations }, reply) => {
      if (!seesConfiguration(request, body.configurationName))
        throw badRequest(unknownConfiguration(body.configurationName));
      const record = await creations.create(body.configurationName).catch((error: unknown) => {
        // The URL is right, because the name stands in the body. So the answer is 400, not 404.
        if (!DroverError.is(error, 'DRV_CONFIGURATION_UNKNOWN')) throw error;
        throw badRequest(unknownConfiguration(body.configurationName));
      });
      request.subject = `${record.id} of ${record.configurationName}`;
      reply.code(201);
      return toInstanceInfo(record, record.status.lastHeartbeat);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/instances/:id',
    scope: 'READ',
    reach: 'instance',
    summary: 'One instance.',
    errors: ['DRV_INSTANCE_UNKNOWN'],
    params: instanceParams,
    answers: { 200: { description: 'the instance', schema: instanceInfoSchema } },
    handle: ({ params }, { view }, reply) => {
      const text = view.get(params.id);
      if (text === undefined) throw unknownInstance(params.id);
      sendEncoded(reply, [text]);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/instances/:id/details',
    scope: 'READ',
    reach: 'instance',
    summary: 'One instance with its desired state, its templates and its present usage.',
    errors: ['DRV_INSTANCE_UNKNOWN'],
    params: instanceParams,
    answers: {
      200: { description: 'everything that is known of the instance', schema: instanceDetailsSchema },
    },
    handle: ({ params }, needs) => detailsOf(visible(needs.view, params.id), needs),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/instances/:id',
    scope: 'OPERATE',
    reach: 'instance',
    summary:
      'Removes an instance: its process is ended, and its working directory is removed unless it is static.',
    errors: ['DRV_INSTANCE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: instanceParams,
    answers: {
      200: { description: 'the instance is hidden at once; its node cleans up', schema: instanceMessage },
    },
    handle: async ({ params }, needs) => {
      const { id } = params;
      // An instance whose record cannot be read is not in the view, and can still be deleted here.
      if (!needs.instances.setAside.has(id)) visible(needs.view, id);
      return { message: await deleteInstance(needs, id), instanceId: id };
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/instances/:id/logs',
    scope: 'READ',
    reach: 'instance',
    summary: 'The last lines of the output, or of a part of it.',
    errors: [
      'DRV_INSTANCE_UNKNOWN',
      'DRV_NODE_DISCONNECTED',
      'DRV_CHANNEL_CALL_FAILED',
      'DRV_NOT_IMPLEMENTED',
      'DRV_RUN_UNKNOWN',
    ],
    params: instanceParams,
    query: logsQuery,
    answers: { 200: { description: 'lines, oldest first', schema: instanceLogSchema } },
    handle: async ({ params, query }, needs) => {
      const record = visible(needs.view, params.id);
      const { lines, since, until } = query;
      const timestamps = query.timestamps === 'true';
      const previous = query.previous === 'true';
      const log = await readInstanceLog(needs, record, { lines, since, until, timestamps, previous });
      return query.ansi === 'true' ? log : { ...log, lines: log.lines.map(toPlainText) };
    },
  }),
  defineRoute({
    method: 'PUT',
    path: '/instances/:id/state',
    scope: 'instance-or-OPERATE',
    reach: 'instance',
    summary: 'Records what an app or tool reports of an instance.',
    errors: ['DRV_INSTANCE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: instanceParams,
    body: stateBody,
    answers: { 200: { description: 'the instance as recorded', schema: instanceInfoSchema } },
    handle: async ({ params, body, request }, { instanceWrites, view }) => {
      const { id, status } = visible(view, params.id);
      const { state, lastHeartbeat, players, maxPlayers, tps } = body;
      const report: StateReport = {
        state,
        lastHeartbeat: lastHeartbeat ?? undefined,
        players,
        maxPlayers,
        tps,
      };
      const record = await instanceWrites.reportState(id, report);
      request.isRoutine = state === status.state;
      return toInstanceInfo(record, record.status.lastHeartbeat);
    },
  }),
  defineRoute({
    method: 'PATCH',
    path: '/instances/:id/lifecycle',
    scope: 'OPERATE',
    reach: 'bad-instance',
    summary: 'Starts, stops or restarts an instance; its record is kept.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    params: instanceParams,
    query: lifecycleQuery,
    answers: { 200: { description: 'recorded', schema: lifecycleMessage } },
    handle: async ({ params: { id }, query: { target } }, needs) => {
      if (!isInstanceId(id)) throw badRequest(unknownInstance(id));
      const message = await changeLifecycle(needs, id, target).catch((error: unknown) => {
        throw DroverError.is(error, 'DRV_INSTANCE_UNKNOWN') ? badRequest(unknownInstance(id)) : error;
      });
      return { message, instanceId: id, target };
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/instances/:id/update',
    scope: 'OPERATE',
    reach: 'instance',
    summary:
      'Gives an instance the content in force, in place: same id, node and directory. A running instance is restarted.',
    errors: [
      'DRV_INSTANCE_UNKNOWN',
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_UPDATE_REFUSED',
      'DRV_STORE_WRITE_FAILED',
    ],
    params: instanceParams,
    body: updateBodySchema,
    answers: { 200: { description: 'recorded', schema: updatedInstanceSchema } },
    handle: ({ params, body }, needs) => updateInstance(needs, params.id, body),
  }),
  executeRoute('/instances/:id/execute', 'Writes a command to the standard input of the process.'),
];

/** The route of `execute`, under the given path. */
export function executeRoute(path: string, summary: string): Route {
  return defineRoute({
    method: 'POST',
    path,
    scope: 'OPERATE',
    reach: 'instance',
    summary,
    errors: [
      'DRV_INSTANCE_UNKNOWN',
      'DRV_INSTANCE_NOT_RUNNING',
      'DRV_STDIN_FULL',
      'DRV_NODE_DISCONNECTED',
      'DRV_CHANNEL_CALL_FAILED',
    ],
    params: instanceParams,
    body: executeBody,
    answers: { 200: { description: 'handed over', schema: executeMessage } },
    handle: async ({ params, body: { command } }, { streams, view }) => {
      const record = visible(view, params.id);
      requireProcess(record);
      await streams.writeStdin(record, stdinCommand(command, 'body field command'));
      return { message: `command sent to instance ${record.id}`, instanceId: record.id, command };
    },
  });
}

/**
 * The record of an instance that clients may see. Throws DRV_INSTANCE_UNKNOWN for any other, such as an instance that
 * is being removed.
 */
export function visible(view: InstanceView, id: string): InstanceRecord {
  const record = view.record(id);
  if (record === undefined) throw unknownInstance(id);
  return record;
}

function badRequest({ message }: DroverError): DroverError {
  return new DroverError('DRV_REQUEST_INVALID', message);
}
