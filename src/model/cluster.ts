/** Membership of a cluster: the tokens with which nodes join, and the credential of each joined node. */
import { z } from 'zod';
import { nameSchema } from './names.js';

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** Id of a join token: not secret, shown in lists. */
export const joinTokenIdSchema = z.string().regex(/^[0-9a-f]{12}$/);

export const joinTokenRecordSchema = z.object({
  id: joinTokenIdSchema,
  /** What the token is for, in the operator's words. */
  label: nameSchema.nullable(),
  /** SHA-256 of the token's secret, hex. The secret itself is never stored. */
  hash: sha256Schema,
  createdAt: z.number(),
  /** Unix milliseconds by the master's clock; null: never. */
  expiresAt: z.number().nullable(),
  /** How many nodes may join with it; null: any number until it expires. */
  maxUses: z.int().min(1).nullable(),
  uses: z.int().min(0),
  /** It is for nodes that become masters, and for no others. Absent: for nodes that do not. */
  asMaster: z.literal(true).optional(),
});
export type JoinTokenRecord = z.output<typeof joinTokenRecordSchema>;

export const memberRecordSchema = z.object({
  nodeId: nameSchema,
  /** SHA-256 of the public key of the node's certificate, hex: the node's identity. */
  key: sha256Schema,
  /** The same for the newest renewed certificate that the node has not shown yet. */
  nextKey: sha256Schema.nullable(),
  /** The same for renewals before that one that were broken off, oldest first: the node may hold any of them. */
  earlierKeys: z.array(sha256Schema).optional(),
  joinedAt: z.number(),
  /** Id of the token that the node joined with. */
  tokenId: joinTokenIdSchema,
  /** When the newest certificate was made, and when it expires. */
  issuedAt: z.number(),
  endsAt: z.number(),
});
export type MemberRecord = z.output<typeof memberRecordSchema>;
