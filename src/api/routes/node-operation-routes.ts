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
import { defineRoute, type Route } from '../http/route.js';

const nodeParams = z.object({ id: z.string().describe('node id') });
const flag = z.enum(['true', 'false'], { error: 'must be true or false' }).default('false');
const forgetQuery = z.object({
  force: flag.describe('forget the node even if it is connected, or has files of static instances'),
  keepToken: flag.describe('keep the join token of the node valid for other nodes'),
});

export const nodeOperationRoutes: readonly Route[] = [
  defineRoute({
    method: 'PUT',
    path: '/cluster/nodes/:id/cordon',
    scope: 'ALL',
    summary: 'Gives a node no new instances; its present instances stay.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    answers: { 200: { description: 'cordoned', schema: nodeMessageSchema } },
    handle: ({ params }, needs) => cordonNode(needs, params.id),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/cluster/nodes/:id/cordon',
    scope: 'ALL',
    summary: 'Gives a node instances again, and ends its drain.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    answers: { 200: { description: 'in service again', schema: nodeMessageSchema } },
    handle: ({ params }, needs) => uncordonNode(needs, params.id),
  }),
  defineRoute({
    method: 'PUT',
    path: '/cluster/nodes/:id/drain',
    scope: 'ALL',
    summary:
      'Cordons a node and moves its instances to other nodes; static instances stay. A second call sets another deadline.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    body: drainBodySchema,
    answers: {
      200: {
        description: 'the drain has begun; GET /cluster/nodes/{id} shows its progress',
        schema: nodeDrainSchema,
      },
    },
    handle: ({ params, body }, needs) => drainNode(needs, params.id, body.deadlineSeconds),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/cluster/nodes/:id',
    scope: 'ALL',
    summary: 'Removes a node that is gone, and its instances; revokes its credential and its join token.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_NODE_IN_USE', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    query: forgetQuery,
    answers: { 200: { description: 'forgotten', schema: forgottenNodeSchema } },
    handle: ({ params: { id }, query, request }, needs) => {
      const force = query.force === 'true';
      const keepToken = query.keepToken === 'true';
      request.subject = [id, ...(force ? ['force'] : []), ...(keepToken ? ['keepToken'] : [])].join(' ');
      return forgetNode(needs, id, { force, keepToken });
    },
  }),
];
