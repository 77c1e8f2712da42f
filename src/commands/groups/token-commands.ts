/** `cluster token ...`: the tokens with which nodes join. A token is printed only when it is made. */
import { type Command, InvalidArgumentError } from 'commander';
import { countText, durationText } from '../../model/words.js';
import { parseDuration } from '../../operations/duration.js';
import {
  createJoinToken,
  JOIN_TOKEN_SECONDS,
  type JoinToken,
  listJoinTokens,
  MAX_JOIN_TOKEN_USES,
  revokeJoinToken,
} from '../../operations/join-tokens.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';

interface CreateOptions extends SharedOptions {
  readonly label?: string;
  /** Seconds. Commander makes an empty text of a parsed null, so the words stay words. */
  readonly expires: number | 'never';
  readonly uses: number | 'any';
}

export function addTokenCommands(cluster: Command, context: CommandContext): void {
  const group = cluster
    .command('token')
    .description('tokens with which nodes join')
    .helpCommand('help', 'show this');
  addCommand(group, 'create', 'make a join token; it is shown this once')
    .option('--label <label>', 'what it is for')
    .option('--expires <time>', 'when it ends: 1h, 7d, never (default: 24h)', expiryOf, JOIN_TOKEN_SECONDS)
    .option('--uses <count>', 'how many nodes may join with it: a number, or any (default: 1)', usesOf, 1)
    .action((options: CreateOptions) => create(context, options));
  addCommand(group, 'list', 'all join tokens, without their secrets').action((options: SharedOptions) =>
    list(context, options),
  );
  addCommand(group, 'revoke <token-id>', 'end a join token; nodes that joined with it stay').action(
    async (id: string, options: SharedOptions) => {
      const revoked = await revokeJoinToken(context.dependencies, id);
      await show(
        context,
        options,
        () => revoked,
        () => revoked.message,
      );
    },
  );
}

async function create(context: CommandContext, options: CreateOptions): Promise<void> {
  const { address } = context.dependencies.configuration;
  const created = await createJoinToken(context.dependencies, {
    label: options.label ?? null,
    expiresInSeconds: options.expires === 'never' ? null : options.expires,
    maxUses: options.uses === 'any' ? null : options.uses,
  });
  const { id, token, expiresAt, maxUses, master } = created;
  const uses = `, for ${maxUses === null ? 'any number of nodes' : countText(maxUses, 'node')}`;
  const until = expiresAt === null ? 'never expires' : `is good until ${new Date(expiresAt).toISOString()}`;
  await show(
    context,
    options,
    () => created,
    () =>
      [
        token,
        `This is join token ${id}; it ${until}${uses}. It is not shown again: keep it safe.`,
        'On the other machine:',
        `  drover join ${token} --master ${master}`,
        ...(isLoopback(address)
          ? [
              `Other machines cannot reach ${address}: set address in this node's config.json, and restart Drover.`,
            ]
          : []),
      ].join('\n'),
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const now = context.dependencies.clock.now();
  const listed = await listJoinTokens(context.dependencies);
  await show(
    context,
    options,
    () => listed,
    () =>
      tableOf(
        context,
        ['ID', 'LABEL', 'EXPIRES', 'JOINED', 'AGE'],
        listed.map((token) => [
          token.id,
          token.label ?? '',
          describeExpiry(token, now),
          token.maxUses === null ? token.uses : `${token.uses} of ${token.maxUses}`,
          durationText(now - token.createdAt),
        ]),
        'there are no join tokens',
      ),
  );
}

function describeExpiry({ expiresAt }: Pick<JoinToken, 'expiresAt'>, now: number): string {
  if (expiresAt === null) return 'never';
  return expiresAt <= now ? 'expired' : `in ${durationText(expiresAt - now)}`;
}

/** Parses a time into seconds. */
function expiryOf(text: string): CreateOptions['expires'] {
  if (text === 'never') return text;
  const ms = parseDuration(text);
  if (ms === undefined || ms === 0)
    throw new InvalidArgumentError('It must be a time such as 1h or 7d, or never.');
  return ms / 1000;
}

function usesOf(text: string): CreateOptions['uses'] {
  if (text === 'any') return text;
  const count = Number(text);
  if (!/^\d+$/.test(text) || count < 1 || count > MAX_JOIN_TOKEN_USES)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_JOIN_TOKEN_USES}, or any.`);
  return count;
}

function isLoopback(address: string): boolean {
  return address === 'localhost' || address === '::1' || address.startsWith('127.');
}
