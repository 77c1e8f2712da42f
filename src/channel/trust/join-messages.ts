/** The messages before a node is a member, and the form of a refusal: JSON over HTTP inside TLS. */
import { z } from 'zod';
import { joinTokenIdSchema } from '../../model/cluster.js';
import { nameSchema } from '../../model/names.js';

export const JOIN_PATH = '/join';
export const CHANNEL_PATH = '/channel';
/** Far more than a join request or an answer to one. */
export const MAX_JOIN_BYTES = 64 * 1024;

export const joinRequestSchema = z.object({
  protocol: z.int(),
  nodeId: nameSchema,
  clusterName: nameSchema,
  tokenId: joinTokenIdSchema,
  secret: z.string().max(100),
  /** PEM. Its private half never leaves the node. */
  publicKey: z.string().max(1000),
  /** Signature over `joinStatement` with that private half, base64. */
  proof: z.string().max(500),
});
export type JoinRequest = z.output<typeof joinRequestSchema>;

export const joinAnswerSchema = z.object({ certificate: z.string() });
export const refusalSchema = z.object({ error: z.string() });

/** The text that a joining node signs, to show that the key in its request is its own. */
export function joinStatement({
  nodeId,
  clusterName,
  tokenId,
}: Pick<JoinRequest, 'nodeId' | 'clusterName' | 'tokenId'>): Buffer {
  return Buffer.from(['drover-join', clusterName, nodeId, tokenId].join('\n'));
}
