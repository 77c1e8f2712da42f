/** `cluster token ...`: the tokens with which nodes join. A token is printed only when it is made. */
import { type Command, InvalidArgumentError } from 'commander';
import type { CreatedJoinToken, JoinToken } from '../../api/routes/join-token-routes.js';
import { JOIN_TOKEN_SECONDS, MAX_JOIN_TOKEN_USES } from '../../model/plain/command-limits.js';
import { parseDuration } from '../../model/plain/duration.js';
import { durationText } from '../../model/plain/duration-text.js';
import { isLoopback, parseHostPort } from '../../model/plain/host-port.js';
import { countText } from '../../model/words.js';
import { describe, messageText, noInput, type Said } from '../command.js';
import { type Columns, listOf } from '../list.js';
import { expiryText } from './keys.js';

export interface TokenOptions {
  readonly label?: string;
  /** Seconds, or `never`. Commander would replace a parsed null by an empty text, so the word `never` is kept. */
  readonly expires?: number | 'never';
  readonly uses?: number | 'any';
  readonly asMaster?: boolean;
}

const COLUMNS: Columns<JoinToken> = {
  ID: ({ id }) => id,
  LABEL: ({ label, asMaster }) => [label, asMaster && 'as master'].filter(Boolean).join(', '),
  EXPIRES: expiryText,
  JOINED: ({ uses, maxUses }) => (maxUses === null ? uses : `${uses} of ${maxUses}`),
  AGE: ({ createdAt }, now) => durationText(now - createdAt),
};

export const TOKEN_COMMANDS = {
  'cluster token create': describe({
    about: 'make a join token; it is shown this once',
    declare: declareToken,
    input: newTokenOf,
    text: (created: CreatedJoinToken) => createdTokenText(created),
    names: ({ id }) => [id],
  }),
  'cluster token list': describe({
    about: 'all join tokens, without their secrets',
    input: noInput,
    text: (listed: readonly JoinToken[], view) => listOf(view, COLUMNS, listed, 'there are no join tokens'),
    names: (listed) => listed.map(({ id }) => id),
  }),
  'cluster token revoke': describe({
    usage: '<token-id>',
    about: 'end a join token; nodes that joined with it stay',
    input: (id: string) => ({ id }),
    text: (revoked: Said<'id'>) => messageText(revoked),
    names: ({ id }) => [id],
    destroys: ({ id }) => `join token ${id} is revoked`,
  }),
};

export function declareToken(command: Command): void {
  command
    .option('--label <label>', 'what it is for')
    .option('--expires <time>', 'when it ends: 1h, 7d, never (default: 24h)', expiryOf)
    .option('--uses <count>', 'how many nodes may join with it: a number, or any (default: 1)', usesOf)
    .option('--as-master', 'it makes masters of the cluster, which get its secrets');
}

export function newTokenOf({
  label,
  expires = JOIN_TOKEN_SECONDS,
  uses = 1,
  asMaster = false,
}: TokenOptions) {
  return {
    label: label ?? null,
    expiresInSeconds: expires === 'never' ? null : expires,
    maxUses: uses === 'any' ? null : uses,
    asMaster,
  };
}

export function createdTokenText({
  id,
  token,
  expiresAt,
  maxUses,
  master,
  asMaster,
}: CreatedJoinToken): string {
  const uses = `, for ${maxUses === null ? 'any number of nodes' : countText(maxUses, 'node')}`;
  const until = expiresAt === null ? 'never expires' : `is good until ${new Date(expiresAt).toISOString()}`;
  const { host = master } = parseHostPort(master) ?? {};
  return [
    token,
    `This is join token ${id}; it ${until}${uses}. It is not shown again: keep it safe.`,
    'On the other machine:',
    `  drover join ${token} --master ${master}${asMaster ? ' --as-master' : ''}`,
    ...(isLoopback(host)
      ? [`Other machines cannot reach ${host}: set address in this node's config.json, and restart Drover.`]
      : []),
  ].join('\n');
}

/** Parses a time into seconds. */
function expiryOf(text: string): number | 'never' {
  if (text === 'never') return text;
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a time such as 1h or 7d, or never.');
  return ms / 1000;
}

function usesOf(text: string): number | 'any' {
  if (text === 'any') return text;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_JOIN_TOKEN_USES)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_JOIN_TOKEN_USES}, or any.`);
  return count;
}
