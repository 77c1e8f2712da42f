/** The messages that a node sends before it is a member, and the form of a refusal: JSON over HTTP inside TLS. */
import { z } from 'zod';
import { joinTokenIdSchema } from '../../model/cluster.js';
import { nameSchema } from '../../model/names.js';
import { masterPeerSchema } from '../protocol/messages.js';
import { type MasterHandover, masterHandoverSchema } from './master-handover.js';

export const JOIN_PATH = '/join';
/** Checks whether a join would be let in, and changes nothing. */
export const JOIN_CHECK_PATH = '/join-check';
/** The request of a node that becomes a master. */
export const JOIN_MASTER_PATH = '/join-master';
export const CHANNEL_PATH = '/channel';
/** The request of a master for a tunnel: the connection then leads to the leader's API. */
export const TUNNEL_PATH = '/tunnel';
/** The request of a master for another master's desk (`src/channel/masters`), whether that master leads or not. */
export const DESK_PATH = '/desk';
export const TUNNEL_PROTOCOL = 'drover-api';
/** The status of a master that does not lead, for requests that only the leader can answer. */
export const ELSEWHERE = 421;
/** The most bytes of a request or answer, far more than any join needs. */
export const MAX_JOIN_BYTES = 64 * 1024;

/** The part by which the master judges token and protocol before it reads the rest. Every version sends it. */
export const joinEnvelopeSchema = z.object({
  protocol: z.int(),
  tokenId: joinTokenIdSchema,
  secret: z.string().max(100),
});
export type JoinEnvelope = z.output<typeof joinEnvelopeSchema>;

export const joinRequestSchema = joinEnvelopeSchema.extend({
  nodeId: nameSchema,
  clusterName: nameSchema,
  /** The public key as PEM. Its private half never leaves the node. */
  publicKey: z.string().max(1000),
  /** Signature over `joinStatement` with that private half, base64. */
  proof: z.string().max(500),
});
export type JoinRequest = z.output<typeof joinRequestSchema>;

/** The request of a future master. It does not know the cluster's name yet, and signs an empty name. */
export const joinMasterSchema = joinRequestSchema.omit({ clusterName: true });
export type JoinMasterRequest = z.output<typeof joinMasterSchema>;

export const joinCheckSchema = joinEnvelopeSchema.extend({
  nodeId: nameSchema,
  /** The key of the node's earlier join under this name, as PEM; absent: no such join. */
  publicKey: z.string().max(1000).optional(),
});
export type JoinCheck = z.output<typeof joinCheckSchema>;

const joinAnswerSchema = z.object({ certificate: z.string() });
const joinCheckAnswerSchema = z.object({ clusterName: nameSchema });
export const refusalSchema = z.object({
  error: z.string(),
  /** With status 421: the leader, or null during an election. */
  leader: masterPeerSchema.nullable().optional(),
});

/** The text that a joining node signs, to prove that the key in its request is its own. */
export function joinStatement({
  nodeId,
  clusterName,
  tokenId,
}: Pick<JoinRequest, 'nodeId' | 'clusterName' | 'tokenId'>): Buffer {
  return Buffer.from(['drover-join', clusterName, nodeId, tokenId].join('\n'));
}

/** A question of a node that has no channel yet. */
export interface JoinQuestion<Answer> {
  readonly path: string;
  readonly content: object;
  readonly schema: z.ZodType<Answer>;
}

/** Asks to join. */
export function joinQuestion(content: JoinRequest): JoinQuestion<z.output<typeof joinAnswerSchema>> {
  return { path: JOIN_PATH, content, schema: joinAnswerSchema };
}

/** Asks whether this node could join, and changes nothing on the master. */
export function joinCheckQuestion(content: JoinCheck): JoinQuestion<{ clusterName: string }> {
  return { path: JOIN_CHECK_PATH, content, schema: joinCheckAnswerSchema };
}

/** Asks for what a master of the cluster needs. */
export function joinMasterQuestion(content: JoinMasterRequest): JoinQuestion<MasterHandover> {
  return { path: JOIN_MASTER_PATH, content, schema: masterHandoverSchema };
}
