/** `/cluster/tokens`: the tokens with which nodes join. Only the answer that makes a token shows it. */

import { z } from 'zod';
import { hasEnded } from '../../model/access/seen-end.js';
import { joinTokenIdSchema } from '../../model/cluster.js';
import { invalidRequest } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { JOIN_TOKEN_SECONDS, MAX_JOIN_TOKEN_USES } from '../../model/plain/command-limits.js';
import { hostPort } from '../../model/plain/host-port.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

const DAY_SECONDS = 86_400;
const MAX_SECONDS = 999_999 * DAY_SECONDS;

const newJoinTokenSchema = z.object({
  label: nameSchema.nullish().describe('the purpose of the token'),
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
    .nullish()
    .describe('how many nodes may join with the token; null: any number'),
  asMaster: z
    .boolean()
    .default(false)
    .describe('true: the token makes only masters, which get all secrets of the cluster'),
});

const id = joinTokenIdSchema.describe('id of the token, which is not secret');
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

const createdJoinTokenSchema = z.object({
  id,
  token: z.string().describe('the token, shown only here'),
  expiresAt,
  maxUses,
  master: z.string().describe('address and cluster port of the master, for `drover join <token> --master`'),
  clusterName: z.string(),
  asMaster,
});
export type CreatedJoinToken = z.output<typeof createdJoinTokenSchema>;

const revokedJoinTokenSchema = z.object({ message: z.string(), id });

export const joinTokenRoutes: readonly Route[] = [
  defineRoute('GET', '/cluster/tokens', {
    scope: 'READ',
    summary: 'All join tokens, the oldest first, without their secrets.',
    answers: jsonAnswer('join tokens', z.array(joinTokenSchema)),
    handle: async (_call, { joinTokens, clock }): Promise<JoinToken[]> =>
      (await joinTokens.list()).map(
        ({ id, label, createdAt, expiresAt, endedAt, maxUses, uses, asMaster = false }) => {
          const isExpired = hasEnded({ expiresAt, endedAt }, clock.now());
          return { id, label, createdAt, expiresAt, isExpired, maxUses, uses, asMaster };
        },
      ),
  }),
  defineRoute('POST', '/cluster/tokens', {
    scope: 'ALL',
    summary: 'Makes a join token; only this answer shows it. Default: a day, and any number of nodes.',
    errors: ['DRV_STORE_WRITE_FAILED'],
    body: newJoinTokenSchema,
    answers: { 201: { description: 'the new token', schema: createdJoinTokenSchema } },
    handle: async ({ body, request }, { joinTokens, configuration }, reply): Promise<CreatedJoinToken> => {
      const { label = null, expiresInSeconds, maxUses = null, asMaster } = body;
      const { address, port, clusterName, store } = configuration;
      if (asMaster && store.kind !== 'etcd')
        throw invalidRequest(
          'asMaster needs a state on etcd, and this master keeps it in a file of its own (drover store migrate --to etcd)',
        );
      const expiresInMs = expiresInSeconds === null ? null : expiresInSeconds * 1000;
      const { token, record } = await joinTokens.create({ label, expiresInMs, maxUses, asMaster });
      const { id, expiresAt } = record;
      request.subject = id;
      reply.code(201).header('cache-control', 'no-store');
      return { id, token, expiresAt, maxUses, master: hostPort(address, port), clusterName, asMaster };
    },
  }),
  defineRoute('DELETE', '/cluster/tokens/:id', {
    scope: 'ALL',
    summary: 'Ends a join token; nodes that joined with it stay.',
    errors: ['DRV_JOIN_TOKEN_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    params: z.object({ id: z.string().describe('id of the token') }),
    answers: jsonAnswer('ended', revokedJoinTokenSchema),
    handle: async ({ params: { id } }, { joinTokens }) => {
      await joinTokens.revoke(id);
      const message = `join token ${id} is revoked; "cluster forget" takes away what a node got with it`;
      return { message, id };
    },
  }),
];
