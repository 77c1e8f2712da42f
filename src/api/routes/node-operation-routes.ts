/**
 * Routes that cordon, drain and forget a node: `/cluster/nodes/{id}/cordon`, `.../drain` and `DELETE
 * /cluster/nodes/{id}`.
 */

import { z } from 'zod';
import {
  cordonNode,
  drainBodySchema,
  drainNode,
  forgetNode,
  forgottenNodeSchema,
  nodeDrainSchema,
  nodeMessageSchema,
  uncordonNode,
} from '../../operations/node-operations.js';
import type { Reads } from '../../operations/reads.js';
import type { Writes } from '../../operations/writes.js';
import { defineRoute, type Route } from '../http/route.js';

const nodeParams = z.object({ id: z.string().describe('node id') });
const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).default('false');
const forgetQuery = z.object({
  force: flag.describe('also a node that is connected, or has files of static instances'),
  keepToken: flag.describe('leave the join token that it came with to other nodes'),
});

export function nodeOperationRoutes(dependencies: Reads & Writes): readonly Route[] {
  return [
    cordonRoute(dependencies),
    uncordonRoute(dependencies),
    drainRoute(dependencies),
    forgetRoute(dependencies),
  ];
}

function cordonRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'PUT',
    path: '/cluster/nodes/:id/cordon',
    scope: 'ALL',
    summary: 'Gives a node no new instances; what runs there stays.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    answers: { 200: { description: 'cordoned', schema: nodeMessageSchema } },
    handle: ({ params }) => cordonNode(dependencies, params.id),
  });
}

function uncordonRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/cluster/nodes/:id/cordon',
    scope: 'ALL',
    summary: 'Gives a node instances again; calls off a drain too.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    answers: { 200: { description: 'in service again', schema: nodeMessageSchema } },
    handle: ({ params }) => uncordonNode(dependencies, params.id),
  });
}

function drainRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'PUT',
    path: '/cluster/nodes/:id/drain',
    scope: 'ALL',
    summary:
      'Cordons a node and moves its instances to others; static ones stay. Again: with another deadline.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    body: drainBodySchema,
    answers: {
      200: {
        description: 'it is being drained; GET /cluster/nodes/{id} shows how it goes',
        schema: nodeDrainSchema,
      },
    },
    handle: ({ params, body }) => drainNode(dependencies, params.id, body.deadlineSeconds),
  });
}

function forgetRoute(dependencies: Reads & Writes): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/cluster/nodes/:id',
    scope: 'ALL',
    summary: 'Removes a node that is gone, and its instances; revokes its credential and its join token.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_NODE_IN_USE', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    query: forgetQuery,
    answers: { 200: { description: 'forgotten', schema: forgottenNodeSchema } },
    handle: ({ params: { id }, query, request }) => {
      const force = query.force === 'true';
      const keepToken = query.keepToken === 'true';
      request.subject = [id, ...(force ? ['force'] : []), ...(keepToken ? ['keepToken'] : [])].join(' ');
      return forgetNode(dependencies, id, { force, keepToken });
    },
  });
}
