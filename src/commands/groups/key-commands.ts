/** `key ...`: the keys of the API. A token is printed only when its key is made. */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { z } from 'zod';
import { KEY_SCOPES, type KeyScope, keyPatternsSchema, keyRangesSchema } from '../../model/access/api-key.js';
import { DroverError } from '../../model/errors.js';
import { durationText, instantText, quoteText } from '../../model/words.js';
import {
  createKey,
  deleteKey,
  expirySchema,
  type ListedKey,
  listKeys,
  type NewKey,
} from '../../operations/api-keys.js';
import { addCommand, type CommandContext, type SharedOptions, show, tableOf } from '../context.js';
import { suggest } from '../find.js';

/** From the widest to the narrowest, as people look for them. */
const SCOPES = KEY_SCOPES.toReversed();

interface CreateOptions extends SharedOptions {
  readonly scope?: KeyScope;
  readonly configurations?: readonly string[];
  readonly expires: string;
  readonly from?: readonly string[];
}

export function addKeyCommands(program: Command, context: CommandContext): void {
  const group = program.command('key').description('keys of the API');
  addCommand(group, 'create', 'make a key; its token is shown this once')
    .addArgument(new Argument('<label>'))
    .addArgument(new Argument('[scope]').choices(SCOPES))
    .usage(`[options] <label> <${SCOPES.join('|')}>`)
    .addOption(new Option('--scope <scope>', 'what it may do, another way to write it').choices(SCOPES))
    .option('--configurations <names>', 'what it sees: names or patterns such as lobby*,survival', patternsOf)
    .option(
      '--expires <time>',
      'when it ends: 12h, 30d, a date such as 2027-01-31, never',
      expiresOf,
      'never',
    )
    .option('--from <addresses>', 'where it may be used from, such as 10.0.0.0/8,2001:db8::/32', rangesOf)
    .action((label: string, scope: KeyScope | undefined, options: CreateOptions) =>
      create(context, newKeyOf(label, scope, options), options),
    );
  addCommand(group, 'list', 'all keys, tokens masked').action((options: SharedOptions) =>
    list(context, options),
  );
  addRemoval(group, context, 'delete', 'revoke a key at once; its sessions end, its open sockets are closed');
  addRemoval(group, context, 'revoke', 'the same as delete');
}

function newKeyOf(label: string, scope: KeyScope | undefined, options: CreateOptions): NewKey {
  const { configurations = null, from = null, expires } = options;
  if (scope !== undefined && options.scope !== undefined && scope !== options.scope)
    throw invalid(`the scope is ${scope}, and --scope says ${options.scope}: give one of them`);
  const asked = scope ?? options.scope;
  if (asked === undefined)
    throw invalid(`say what the key may do: key create ${label} <${SCOPES.join('|')}>`);
  return {
    label,
    scope: asked,
    configurations: configurations && [...configurations],
    expires,
    from: from && [...from],
  };
}

async function create(context: CommandContext, key: NewKey, options: SharedOptions): Promise<void> {
  const created = await createKey(context.dependencies, key);
  const { label, scope, configurations, from, expiresAt, token } = created;
  const limits = [
    ...(configurations === null ? [] : [`configurations ${configurations.join(', ')}`]),
    ...(from === null ? [] : [`from ${from.join(', ')}`]),
    ...(expiresAt === null ? [] : [`until ${instantText(expiresAt)}`]),
  ];
  await show(
    context,
    options,
    () => created,
    () =>
      `${token}\nThis is the token of key ${label} (${[scope, ...limits].join('; ')}). It is not shown again: keep it safe.`,
  );
}

async function list(context: CommandContext, options: SharedOptions): Promise<void> {
  const listed = listKeys(context.dependencies);
  const now = context.dependencies.clock.now();
  await show(
    context,
    options,
    () => listed,
    () =>
      tableOf(
        context,
        ['LABEL', 'SCOPE', 'TOKEN', 'AGE', 'EXPIRES', 'LAST USED', 'CONFIGURATIONS', 'FROM'],
        listed.map((key) => [
          key.label,
          key.scope,
          key.mask,
          durationText(now - key.createdAt),
          expiryText(key, now),
          lastUseText(key, now),
          key.configurations?.join(',') ?? 'all',
          key.from?.join(',') ?? 'anywhere',
        ]),
        'there are no keys',
      ),
  );
}

function expiryText({ expiresAt, isExpired }: ListedKey, now: number): string {
  if (expiresAt === null) return 'never';
  return isExpired ? 'expired' : `in ${durationText(expiresAt - now)}`;
}

function lastUseText({ lastUsedAt, lastUsedFrom }: ListedKey, now: number): string {
  return lastUsedAt === null ? 'never' : `${durationText(now - lastUsedAt)} ago, ${lastUsedFrom}`;
}

function addRemoval(group: Command, context: CommandContext, name: string, about: string): void {
  addCommand(group, `${name} <label>`, about).action(async (label: string, options: SharedOptions) => {
    requireKey(context, label);
    const deleted = await deleteKey(context.dependencies, label);
    await show(
      context,
      options,
      () => deleted,
      () => deleted.message,
    );
  });
}

function requireKey({ dependencies }: CommandContext, label: string): void {
  if (dependencies.keys.get(label) !== undefined || dependencies.keys.setAside.has(label)) return;
  const labels = [...dependencies.keys.entries()].map(([known]) => known);
  throw new DroverError(
    'DRV_KEY_UNKNOWN',
    `there is no key ${quoteText(label)}${suggest(label, labels, 'key list')}`,
  );
}

function patternsOf(text: string): readonly string[] {
  return parsed(keyPatternsSchema, text.split(','));
}

function rangesOf(text: string): readonly string[] {
  return parsed(keyRangesSchema, text.split(','));
}

function expiresOf(text: string): string {
  return parsed(expirySchema, text);
}

/** Throws what Commander prints with the option's name. */
function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const { message, path } = error.issues[0] ?? { message: 'it is not valid', path: [] };
  const [index] = path;
  const which =
    Array.isArray(value) && typeof index === 'number' ? `${quoteText(String(value[index]))} ` : 'It ';
  throw new InvalidArgumentError(`${which}${message}.`);
}

function invalid(message: string): DroverError {
  return new DroverError('DRV_COMMAND_INVALID', message);
}
