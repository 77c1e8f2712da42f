/** The messages before a node is a member, and the form of a refusal: JSON over HTTP inside TLS. */
import { z } from 'zod';
import { joinTokenIdSchema } from '../../model/cluster.js';
import { nameSchema } from '../../model/names.js';
import { masterPeerSchema } from '../protocol/messages.js';

export const JOIN_PATH = '/join';
/** Answers whether a join would be let in, and changes nothing. Masters of 0.1.0 do not have it. */
export const JOIN_CHECK_PATH = '/join-check';
/** Of a node that becomes a master. */
export const JOIN_MASTER_PATH = '/join-master';
export const CHANNEL_PATH = '/channel';
/** Of a master: the connection becomes one to the leader's API. */
export const TUNNEL_PATH = '/tunnel';
/** Of a master: the connection becomes one to the desk of another (`src/channel/masters`), whether that leads or not. */
export const DESK_PATH = '/desk';
export const TUNNEL_PROTOCOL = 'drover-api';
/** The status of a master that does not lead and is asked what only the leader can answer. */
export const ELSEWHERE = 421;
/** Far more than a join request or an answer to one. */
export const MAX_JOIN_BYTES = 64 * 1024;

/** What every version sends: the master judges token and protocol by it before it reads the rest. */
export const joinEnvelopeSchema = z.object({
  protocol: z.int(),
  tokenId: joinTokenIdSchema,
  secret: z.string().max(100),
});
export type JoinEnvelope = z.output<typeof joinEnvelopeSchema>;

export const joinRequestSchema = joinEnvelopeSchema.extend({
  nodeId: nameSchema,
  clusterName: nameSchema,
  /** PEM. Its private half never leaves the node. */
  publicKey: z.string().max(1000),
  /** Signature over `joinStatement` with that private half, base64. */
  proof: z.string().max(500),
});
export type JoinRequest = z.output<typeof joinRequestSchema>;

/** As a node's request; it does not know the cluster's name yet, and signs an empty one. */
export const joinMasterSchema = joinRequestSchema.omit({ clusterName: true });
export type JoinMasterRequest = z.output<typeof joinMasterSchema>;

export const joinCheckSchema = joinEnvelopeSchema.extend({
  nodeId: nameSchema,
  /** The key that the node has from an earlier join under this name, PEM; absent: none. */
  publicKey: z.string().max(1000).optional(),
});
export type JoinCheck = z.output<typeof joinCheckSchema>;

export const joinAnswerSchema = z.object({ certificate: z.string() });
export const joinCheckAnswerSchema = z.object({ clusterName: nameSchema });
export const refusalSchema = z.object({
  error: z.string(),
  /** With status 421: who leads, null during an election. */
  leader: masterPeerSchema.nullable().optional(),
});

/** The text that a joining node signs, to show that the key in its request is its own. */
export function joinStatement({
  nodeId,
  clusterName,
  tokenId,
}: Pick<JoinRequest, 'nodeId' | 'clusterName' | 'tokenId'>): Buffer {
  return Buffer.from(['drover-join', clusterName, nodeId, tokenId].join('\n'));
}
