/** Membership of a cluster: the tokens that let a node join once, and the credential that each joined node holds. */
import { z } from 'zod';
import { nameSchema } from './names.js';

const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** Id of a join token: not secret, shown in lists. */
export const joinTokenIdSchema = z.string().regex(/^[0-9a-f]{12}$/);

export const joinTokenRecordSchema = z.object({
  id: joinTokenIdSchema,
  /** For people: what the token is for. */
  label: nameSchema.nullable(),
  /** SHA-256 of the secret in it, hex. The secret itself is never stored. */
  hash: sha256Schema,
  createdAt: z.number(),
  /** Unix milliseconds by the master's clock; null: never. */
  expiresAt: z.number().nullable(),
  /** How many nodes may join with it; null: any number until it expires. */
  maxUses: z.int().min(1).nullable(),
  uses: z.int().min(0),
});
export type JoinTokenRecord = z.output<typeof joinTokenRecordSchema>;

export const memberRecordSchema = z.object({
  nodeId: nameSchema,
  /** SHA-256 of the public key of its certificate, hex: what it is known by. */
  key: sha256Schema,
  /** The same of a renewed certificate that it has not shown yet. */
  nextKey: sha256Schema.nullable(),
  joinedAt: z.number(),
  /** Id of the token that it joined with. */
  tokenId: joinTokenIdSchema,
  /** When its newest certificate was made, and when that ends. */
  issuedAt: z.number(),
  endsAt: z.number(),
});
export type MemberRecord = z.output<typeof memberRecordSchema>;
