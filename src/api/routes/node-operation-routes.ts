/**
 * Routes that cordon, drain and forget a node: `/cluster/nodes/{id}/cordon`, `.../drain` and `DELETE
 * /cluster/nodes/{id}`.
 */

import { z } from 'zod';
import { joinTokenIdSchema } from '../../model/cluster.js';
import { shownInstanceId } from '../../model/names.js';
import { drainProgressSchema } from '../../model/node-drain.js';
import { DRAIN_DEADLINE_SECONDS, MAX_DRAIN_DEADLINE_SECONDS } from '../../model/plain/command-limits.js';
import { defineRoute, flag, jsonAnswer, type Route } from '../http/route.js';

const nodeId = z.string();

const nodeMessageSchema = z.object({ message: z.string(), nodeId });
export type NodeMessage = z.output<typeof nodeMessageSchema>;

const drainBodySchema = z.object({
  deadlineSeconds: z
    .int()
    .min(0)
    .max(MAX_DRAIN_DEADLINE_SECONDS)
    .default(DRAIN_DEADLINE_SECONDS)
    .describe('how many seconds to wait for players; 0: no wait'),
});

const nodeDrainSchema = z.object({
  nodeId,
  drain: drainProgressSchema.nullable().describe('the drain; null: it was ended meanwhile'),
});
export type NodeDrain = z.output<typeof nodeDrainSchema>;

const forgottenNodeSchema = z.object({
  nodeId,
  instances: z
    .array(shownInstanceId)
    .describe('ids of the instances whose records were removed with the node'),
  statics: z
    .array(shownInstanceId)
    .describe('ids of the static instances among them, whose files stay on the disk of the node'),
  joinToken: z
    .object({
      id: joinTokenIdSchema,
      isRevoked: z.boolean().describe('false: the node can join with the token again'),
    })
    .optional()
    .describe('the token that the node joined with; absent: it could not be used any more'),
});

export type ForgottenNode = z.output<typeof forgottenNodeSchema>;

const nodeParams = z.object({ id: z.string().describe('node id') });
const forgetQuery = z.object({
  force: flag.describe('forget the node even if it is connected, or has files of static instances'),
  keepToken: flag.describe('keep the join token of the node valid for other nodes'),
});

export const nodeOperationRoutes: readonly Route[] = [
  defineRoute('PUT', '/cluster/nodes/:id/cordon', {
    scope: 'ALL',
    summary: 'Gives a node no new instances; its present instances stay.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    answers: jsonAnswer('cordoned', nodeMessageSchema),
    handle: async ({ params: { id } }, { nodeWrites }): Promise<NodeMessage> => {
      await nodeWrites.cordon(id);
      return { message: `node ${id} is cordoned: it gets no new instances`, nodeId: id };
    },
  }),
  defineRoute('DELETE', '/cluster/nodes/:id/cordon', {
    scope: 'ALL',
    summary: 'Gives a node instances again, and ends its drain.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    answers: jsonAnswer('in service again', nodeMessageSchema),
    handle: async ({ params: { id } }, { nodeWrites }): Promise<NodeMessage> => {
      await nodeWrites.uncordon(id);
      return { message: `node ${id} gets instances again`, nodeId: id };
    },
  }),
  defineRoute('PUT', '/cluster/nodes/:id/drain', {
    scope: 'ALL',
    summary:
      'Cordons a node and moves its instances to other nodes; static instances stay. A second call sets another deadline.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    body: drainBodySchema,
    answers: jsonAnswer('the drain has begun; GET /cluster/nodes/{id} shows its progress', nodeDrainSchema),
    handle: async ({ params: { id }, body }, { nodeWrites, drainOf }): Promise<NodeDrain> => {
      await nodeWrites.drain(id, body.deadlineSeconds * 1000);
      return { nodeId: id, drain: drainOf(id) ?? null };
    },
  }),
  defineRoute('DELETE', '/cluster/nodes/:id', {
    scope: 'ALL',
    summary: 'Removes a node that is gone, and its instances; revokes its credential and its join token.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_NODE_IN_USE', 'DRV_STORE_WRITE_FAILED'],
    params: nodeParams,
    query: forgetQuery,
    answers: jsonAnswer('forgotten', forgottenNodeSchema),
    handle: async ({ params: { id }, query, request }, { nodeWrites }): Promise<ForgottenNode> => {
      const force = query.force === 'true';
      const keepToken = query.keepToken === 'true';
      request.subject = [id, ...(force ? ['force'] : []), ...(keepToken ? ['keepToken'] : [])].join(' ');
      const { instances, statics, token } = await nodeWrites.forget(id, { force, keepToken });
      return {
        nodeId: id,
        instances: [...instances],
        statics: [...statics],
        ...(token !== undefined && { joinToken: { id: token, isRevoked: !keepToken } }),
      };
    },
  }),
];
