/** Membership of a cluster: the tokens with which nodes join, and the credential of each joined node. */
import { z } from 'zod';
import { endedAtSchema } from './access/seen-end.js';
import { nameSchema, sha256Schema } from './names.js';

/** The id of a join token. It is not secret: lists show it. */
export const joinTokenIdSchema = z.string().regex(/^[0-9a-f]{12}$/);

export const joinTokenRecordSchema = z.object({
  id: joinTokenIdSchema,
  /** The purpose of the token, in the operator's words. */
  label: nameSchema.nullable(),
  /** The SHA-256 of the token's secret, hex. The secret itself is never stored. */
  hash: sha256Schema,
  createdAt: z.number(),
  /** When the token ends, in Unix milliseconds by the master's clock; null: never. */
  expiresAt: z.number().nullable(),
  /** How many nodes may join with it; null: any number until it expires. */
  maxUses: z.int().min(1).nullable(),
  uses: z.int().min(0),
  /** True: the token admits only new masters. Absent: the token admits only nodes that are not masters. */
  asMaster: z.literal(true).optional(),
  endedAt: endedAtSchema,
});
export type JoinTokenRecord = z.output<typeof joinTokenRecordSchema>;

export const memberRecordSchema = z.object({
  nodeId: nameSchema,
  /** The SHA-256 of the public key of the node's certificate, hex: the identity of the node. */
  key: sha256Schema,
  /** The SHA-256 of the key of the newest certificate that was made for the node and that the node has not used yet. */
  nextKey: sha256Schema.nullable(),
  /**
   * The SHA-256 of the keys of earlier renewals that were broken off, oldest first. The node may hold any of these
   * certificates.
   */
  earlierKeys: z.array(sha256Schema).optional(),
  joinedAt: z.number(),
  /** The id of the token that the node joined with. */
  tokenId: joinTokenIdSchema,
  /** When the newest certificate was made, and when it expires. */
  issuedAt: z.number(),
  endsAt: z.number(),
});
export type MemberRecord = z.output<typeof memberRecordSchema>;
