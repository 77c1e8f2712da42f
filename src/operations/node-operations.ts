/** Cordons, drains and forgets nodes: `cluster cordon|uncordon|drain|forget` and their routes. */

import { z } from 'zod';
import { drainProgressSchema } from '../model/node-drain.js';
import { DRAIN_DEADLINE_SECONDS, MAX_DRAIN_DEADLINE_SECONDS } from '../model/plain/command-limits.js';
import type { Reads } from './reads.js';
import type { Writes } from './writes.js';

const nodeId = z.string();

export const nodeMessageSchema = z.object({ message: z.string(), nodeId });
export type NodeMessage = z.output<typeof nodeMessageSchema>;

export const drainBodySchema = z.object({
  deadlineSeconds: z
    .int()
    .min(0)
    .max(MAX_DRAIN_DEADLINE_SECONDS)
    .default(DRAIN_DEADLINE_SECONDS)
    .describe('how many seconds to wait for players; 0: no wait'),
});

export const nodeDrainSchema = z.object({
  nodeId,
  drain: drainProgressSchema.nullable().describe('the drain; null: it was ended meanwhile'),
});
export type NodeDrain = z.output<typeof nodeDrainSchema>;

export const forgottenNodeSchema = z.object({
  nodeId,
  instances: z.array(z.string()).describe('ids of the instances whose records were removed with the node'),
  statics: z
    .array(z.string())
    .describe('ids of the static instances among them, whose files stay on the disk of the node'),
  joinToken: z
    .object({
      id: z.string(),
      isRevoked: z.boolean().describe('false: the node can join with the token again'),
    })
    .optional()
    .describe('the token that the node joined with; absent: it could not be used any more'),
});

export type ForgottenNode = z.output<typeof forgottenNodeSchema>;

/** The answer of `stop` and its route, before the daemon ends. */
export const STOPPING =
  'Drover stops now. Instances go on running, and the next start takes them up (Ctrl-C would stop them too).';

/** Makes placement give a node no new instances. Repeatable. Throws DRV_NODE_UNKNOWN. */
export async function cordonNode({ nodeWrites }: Reads & Writes, id: string): Promise<NodeMessage> {
  await nodeWrites.cordon(id);
  return { message: `node ${id} is cordoned: it gets no new instances`, nodeId: id };
}

/** Lets a node get instances again, and ends its drain. Repeatable. Throws DRV_NODE_UNKNOWN. */
export async function uncordonNode({ nodeWrites }: Reads & Writes, id: string): Promise<NodeMessage> {
  await nodeWrites.uncordon(id);
  return { message: `node ${id} gets instances again`, nodeId: id };
}

/** Cordons a node and moves its instances away. A second call sets a new deadline. Throws DRV_NODE_UNKNOWN. */
export async function drainNode(
  { nodeWrites, drainOf }: Reads & Writes,
  id: string,
  deadlineSeconds: number,
): Promise<z.output<typeof nodeDrainSchema>> {
  await nodeWrites.drain(id, deadlineSeconds * 1000);
  return { nodeId: id, drain: drainOf(id) ?? null };
}

interface ForgetOptions {
  readonly force: boolean;
  readonly keepToken: boolean;
}

/**
 * Removes a node and the records of its instances, and revokes the join token that it came with unless `keepToken`.
 * Throws DRV_NODE_UNKNOWN. Throws DRV_NODE_IN_USE for the node of the master, and without `force` for a node that is
 * connected or has files of static instances.
 */
export async function forgetNode(
  { nodeWrites }: Reads & Writes,
  id: string,
  { force, keepToken }: ForgetOptions,
): Promise<z.output<typeof forgottenNodeSchema>> {
  const { instances, statics, token } = await nodeWrites.forget(id, { force, keepToken });
  const forgotten = { nodeId: id, instances: [...instances], statics: [...statics] };
  return token === undefined ? forgotten : { ...forgotten, joinToken: { id: token, isRevoked: !keepToken } };
}
