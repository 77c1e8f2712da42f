/** Makes, lists and revokes the tokens with which nodes join: `cluster token ...` and its routes. */

import { z } from 'zod';
import { DroverError } from '../model/errors.js';
import { hostPort } from '../model/host-port.js';
import { nameSchema } from '../model/names.js';
import { JOIN_TOKEN_SECONDS, MAX_JOIN_TOKEN_USES } from '../model/plain/command-limits.js';
import type { Reads } from './reads.js';
import type { Writes } from './writes.js';

const DAY_SECONDS = 86_400;
const MAX_SECONDS = 999_999 * DAY_SECONDS;

export const newJoinTokenSchema = z.object({
  label: nameSchema.nullable().default(null).describe('the purpose of the token'),
  expiresInSeconds: z
    .int()
    .min(1)
    .max(MAX_SECONDS)
    .nullable()
    .default(JOIN_TOKEN_SECONDS)
    .describe('the life of the token in seconds; null: it never expires'),
  maxUses: z
    .int()
    .min(1)
    .max(MAX_JOIN_TOKEN_USES)
    .nullable()
    .default(null)
    .describe('how many nodes may join with the token; null: any number'),
  asMaster: z
    .boolean()
    .default(false)
    .describe('true: the token makes only masters, which get all secrets of the cluster'),
});

const id = z.string().describe('id of the token, which is not secret');
const expiresAt = z.number().nullable().describe('Unix milliseconds; null: never');
const asMaster = z.boolean().describe('true: the token makes masters');
const maxUses = z.int().nullable().describe('how many nodes may join with the token; null: any number');

export const joinTokenSchema = z.object({
  id,
  label: z.string().nullable(),
  createdAt: z.number().describe('Unix milliseconds'),
  expiresAt,
  isExpired: z.boolean(),
  maxUses,
  uses: z.int().describe('how many nodes have joined with the token'),
  asMaster,
});
export type JoinToken = z.output<typeof joinTokenSchema>;

export const createdJoinTokenSchema = z.object({
  id,
  token: z.string().describe('the token, shown only here'),
  expiresAt,
  maxUses,
  master: z.string().describe('address and cluster port of the master, for `drover join <token> --master`'),
  clusterName: z.string(),
  asMaster,
});
export type CreatedJoinToken = z.output<typeof createdJoinTokenSchema>;

export const revokedJoinTokenSchema = z.object({ message: z.string(), id });

/** Makes a token. Only this answer shows its text. Throws DRV_REQUEST_INVALID when there are too many tokens. */
export async function createJoinToken(
  { joinTokens, configuration }: Reads & Writes,
  { label, expiresInSeconds, maxUses, asMaster }: z.output<typeof newJoinTokenSchema>,
): Promise<z.output<typeof createdJoinTokenSchema>> {
  if (asMaster && configuration.store.kind !== 'etcd')
    throw new DroverError(
      'DRV_REQUEST_INVALID',
      'asMaster needs a state on etcd, and this master keeps it in a file of its own (drover store migrate --to etcd)',
    );
  const expiresInMs = expiresInSeconds === null ? null : expiresInSeconds * 1000;
  const { token, record } = await joinTokens.create({ label, expiresInMs, maxUses, asMaster });
  const { address, port, clusterName } = configuration;
  const master = hostPort(address, port);
  return {
    id: record.id,
    token,
    expiresAt: record.expiresAt,
    maxUses: record.maxUses,
    master,
    clusterName,
    asMaster,
  };
}

/** All tokens without their hashes, the oldest first. */
export async function listJoinTokens({ joinTokens, clock }: Reads & Writes): Promise<JoinToken[]> {
  const now = clock.now();
  const records = await joinTokens.list();
  return records.map(({ id, label, createdAt, expiresAt, maxUses, uses, asMaster = false }) => {
    const isExpired = expiresAt !== null && expiresAt <= now;
    return { id, label, createdAt, expiresAt, isExpired, maxUses, uses, asMaster };
  });
}

/** Revokes a token. Nodes that joined with it stay. Throws DRV_JOIN_TOKEN_UNKNOWN. */
export async function revokeJoinToken(
  { joinTokens }: Pick<Reads & Writes, 'joinTokens'>,
  id: string,
): Promise<z.output<typeof revokedJoinTokenSchema>> {
  await joinTokens.revoke(id);
  return { message: `join token ${id} is revoked; "cluster forget" takes away what a node got with it`, id };
}
