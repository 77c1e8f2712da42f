/**
 * `/instances`. Reads come from the encoded view, writes change the desired state, and the node answers for logs and
 * stdin.
 */

import type { z } from 'zod';
import { requireProcess, stdinCommand } from '../../../channel/services/stdin-command.js';
import { DroverError, invalidRequest } from '../../../model/errors.js';
import { jobOrderSchema } from '../../../model/fields/job.js';
import {
  type InstanceRecord,
  instanceInfoSchema,
  isAtRest,
  toInstanceInfo,
} from '../../../model/instance.js';
import { isInstanceId } from '../../../model/names.js';
import { unknownConfiguration, unknownInstance } from '../../../model/unknown.js';
import type { LifecycleTarget, StateReport } from '../../../state/instance-changes.js';
import type { RouteNeeds } from '../../dependencies.js';
import { accessOf, seesConfiguration } from '../../gate/auth.js';
import { sendEncoded } from '../../http/json-reply.js';
import { defineRoute, jsonAnswer, type Route } from '../../http/route.js';
import { ofConfiguration, ofInstance } from '../subjects.js';
import { instanceDetailsRoute } from './instance-details.js';
import {
  createBody,
  executeBody,
  executeMessage,
  instanceList,
  instanceMessage,
  lifecycleMessage,
  lifecycleQuery,
  NODE_ERRORS,
  signalBody,
  signalMessage,
  stateBody,
} from './instance-schemas.js';
import { logRoute } from './log-routes.js';
import { updateRoute } from './update-route.js';

export const instanceRoutes: readonly Route[] = [
  defineRoute('GET', '/instances', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'All instances, oldest first.',
    answers: jsonAnswer('instances', instanceList),
    handle: ({ request }, { view }, reply) => sendEncoded(reply, view.list(accessOf(request))),
  }),
  defineRoute('POST', '/instances', {
    scope: 'OPERATE',
    reach: 'filtered',
    summary: 'Makes an instance of a configuration.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: createBody,
    answers: { 201: { description: 'the new instance', schema: instanceInfoSchema } },
    handle: async ({ body, request }, { led }, reply) => {
      if (!seesConfiguration(request, body.configurationName))
        throw badRequest(unknownConfiguration(body.configurationName));
      const { creations } = led();
      const record = await creations
        .create(body.configurationName)
        .catch(asBadRequest(unknownConfiguration(body.configurationName)));
      request.subject = `${record.id} of ${record.configurationName}`;
      reply.code(201);
      return toInstanceInfo(record);
    },
  }),
  defineRoute('POST', '/configurations/:name/run', {
    scope: 'OPERATE',
    ...ofConfiguration,
    summary: 'Starts a run of a job; with a `key` of before, it answers with the run of before.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: jobOrderSchema,
    answers: { 201: { description: 'the instance that is the run', schema: instanceInfoSchema } },
    handle: async ({ params: { name }, body, request }, { led }, reply) => {
      const record = await led().creations.create(name, body);
      request.subject = `${record.id} of ${name}`;
      reply.code(201);
      return toInstanceInfo(record);
    },
  }),
  defineRoute('GET', '/instances/:id', {
    scope: 'READ',
    ...ofInstance,
    summary: 'One instance.',
    answers: jsonAnswer('the instance', instanceInfoSchema),
    handle: ({ params }, { view }, reply) => {
      const text = view.get(params.id);
      if (text === undefined) throw unknownInstance(params.id);
      sendEncoded(reply, [text]);
    },
  }),
  instanceDetailsRoute,
  defineRoute('DELETE', '/instances/:id', {
    scope: 'OPERATE',
    ...ofInstance,
    summary:
      'Removes an instance: its process is ended, and its working directory is removed unless it is static.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    answers: jsonAnswer('the instance is hidden at once; its node cleans up', instanceMessage),
    handle: async ({ params }, needs) => {
      const { id } = params;
      // Check that the instance exists. An instance whose record cannot be read is not in the view, but can still be
      // deleted.
      if (!needs.instances.setAside.has(id)) needs.view.visible(id);
      const before = needs.instances.get(id)?.value;
      await needs.instanceWrites.remove(id);
      const message = `instance ${id} is being removed${consequenceOf(needs, before, 'delete')}`;
      return { message, instanceId: id };
    },
  }),
  logRoute,
  defineRoute('PUT', '/instances/:id/state', {
    scope: 'instance-or-OPERATE',
    ...ofInstance,
    summary: 'Records what an app or tool reports of an instance.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: stateBody,
    answers: jsonAnswer('the instance as recorded', instanceInfoSchema),
    handle: async ({ params, body, request }, { instanceWrites, view }) => {
      const { id, status } = view.visible(params.id);
      const { state, lastHeartbeat, players, maxPlayers, tps } = body;
      const report: StateReport = { state, lastHeartbeat, players, maxPlayers, tps };
      const record = await instanceWrites.reportState(id, report);
      request.isRoutine = state === status.state;
      return toInstanceInfo(record);
    },
  }),
  defineRoute('PATCH', '/instances/:id/lifecycle', {
    scope: 'OPERATE',
    ...ofInstance,
    reach: 'bad-instance',
    summary: 'Starts, stops or restarts an instance; its record is kept.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    query: lifecycleQuery,
    answers: jsonAnswer('recorded', lifecycleMessage),
    handle: async ({ params: { id }, query: { target } }, needs) => {
      if (!isInstanceId(id)) throw badRequest(unknownInstance(id));
      return changeLifecycle(needs, id, target).catch(asBadRequest(unknownInstance(id)));
    },
  }),
  updateRoute,
  executeRoute('/instances/:id/execute', 'Writes a command to the standard input of the process.'),
  defineRoute('POST', '/instances/:id/signal', {
    scope: 'OPERATE',
    ...ofInstance,
    summary:
      'Sends a signal to the main process, or to all processes. What ends by it counts as ended by itself.',
    errors: ['DRV_INSTANCE_NOT_RUNNING', 'DRV_RUNTIME_UNAVAILABLE', ...NODE_ERRORS],
    body: signalBody,
    answers: jsonAnswer('sent', signalMessage),
    handle: async ({ params, body: { signal, all } }, { streams, view }) => {
      const record = view.visible(params.id);
      requireProcess(record, 'signals');
      if (all && record.runtime === 'docker')
        throw invalidRequest(
          'body field all: the runtime docker can signal the main process of a container alone; leave it out',
        );
      await streams.sendSignal(record, signal, all ? 'all' : 'main');
      return { message: `${signal} sent to instance ${record.id}`, instanceId: record.id, signal };
    },
  }),
];

/**
 * Other names of endpoints that existing plugins call: `stop` for `lifecycle?target=stop`, and `command` for `execute`.
 * The API contract does not list them.
 */
export const pluginRoutes: readonly Route[] = [
  defineRoute('POST', '/instances/:id/stop', {
    scope: 'OPERATE',
    ...ofInstance,
    summary: 'Another name for lifecycle with target stop, for existing plugins. Any body is ignored.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    answers: jsonAnswer('recorded', lifecycleMessage),
    handle: ({ params }, needs) => changeLifecycle(needs, needs.view.visible(params.id).id, 'stop'),
  }),
  executeRoute('/instances/:id/command', 'Another name for execute, for existing plugins.'),
];

/** The route of `execute`, under the given path. */
function executeRoute(path: string, summary: string): Route {
  return defineRoute('POST', path, {
    scope: 'OPERATE',
    ...ofInstance,
    summary,
    errors: ['DRV_INSTANCE_NOT_RUNNING', 'DRV_STDIN_FULL', ...NODE_ERRORS],
    body: executeBody,
    answers: jsonAnswer('handed over', executeMessage),
    handle: async ({ params, body: { command } }, { streams, view }) => {
      const record = view.visible(params.id);
      requireProcess(record);
      await streams.writeStdin(record, stdinCommand(command, 'body field command'));
      return { message: `command sent to instance ${record.id}`, instanceId: record.id, command };
    },
  });
}

/** Changes the goal of an instance. Resolves with the answer when the request is durable. Throws DRV_INSTANCE_UNKNOWN. */
async function changeLifecycle(
  needs: RouteNeeds,
  id: string,
  target: LifecycleTarget,
): Promise<z.output<typeof lifecycleMessage>> {
  const before = needs.instances.get(id)?.value;
  await needs.instanceWrites.setLifecycle(id, target);
  const message = `instance ${id}: ${target} requested${consequenceOf(needs, before, target)}`;
  return { message, instanceId: id, target };
}

function consequenceOf(
  needs: RouteNeeds,
  before: InstanceRecord | undefined,
  target: LifecycleTarget | 'delete',
): string {
  if (before === undefined) return '';
  if (target === 'start') {
    const isLeftAlone =
      before.desired.goal === 'run' && !isAtRest(before) && needs.instanceWrites.isAway(before);
    return isLeftAlone
      ? `; it is wanted already, and goes on when its node ${before.placement?.nodeId} is back`
      : '';
  }
  return target === 'restart' ? '' : replacementOf(needs, before.configurationName);
}

/**
 * The end of the answer's sentence when minimum-service makes another instance now; empty when enough instances are
 * left.
 */
function replacementOf({ serviceOf }: RouteNeeds, name: string): string {
  const service = serviceOf(name);
  if (service === undefined || (service.creating === 0 && service.nextCreationInMs === null)) return '';
  return `; another one is made in its place, because minimumServiceCount of ${name} is ${service.minimum}: lower it to have fewer`;
}

/** An unknown name is a 400 in two routes, not a 404: their URL is right, or callers know them so. */
const asBadRequest = (unknown: DroverError) => (error: unknown) => {
  throw DroverError.is(error, unknown.code) ? badRequest(unknown) : error;
};

function badRequest({ message }: DroverError): DroverError {
  return invalidRequest(message);
}
