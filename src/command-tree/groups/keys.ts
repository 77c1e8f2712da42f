/**
 * `key ...` and `session ...`: the keys of the API, and the sessions that were made with them. A token is printed only
 * when its key is made.
 */
import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { CreatedKey, ListedKey, NewKey } from '../../api/routes/key-routes.js';
import type { ListedSession } from '../../api/routes/session-routes.js';
import { ADDRESS_RANGE_RULE, isAddressRange } from '../../model/access/address-range.js';
import { KEY_SCOPES, type KeyScope } from '../../model/access/key-scopes.js';
import { NAME_PATTERN, NAME_PATTERN_RULE } from '../../model/access/name-pattern.js';
import { MAX_KEY_ENTRIES } from '../../model/plain/command-limits.js';
import { EXPIRY_RULE, parseExpiry } from '../../model/plain/duration.js';
import { durationText } from '../../model/plain/duration-text.js';
import { instantText, quoteText } from '../../model/words.js';
import { describe, invalid, messageText, noInput, type Said } from '../command.js';
import { type Columns, listOf } from '../list.js';

/** The scopes from the widest to the narrowest, as people look for them. */
const SCOPES = KEY_SCOPES.toReversed();

interface CreateOptions {
  readonly scope?: KeyScope;
  readonly configurations?: readonly string[];
  readonly expires: string;
  readonly from?: readonly string[];
}

const COLUMNS: Columns<ListedKey> = {
  LABEL: ({ label }) => label,
  SCOPE: ({ scope }) => scope,
  TOKEN: ({ mask }) => mask,
  AGE: ({ createdAt }, now) => durationText(now - createdAt),
  EXPIRES: expiryText,
  'LAST USED': lastUseText,
  CONFIGURATIONS: ({ configurations }) => configurations?.join(',') ?? 'all',
  FROM: ({ from }) => from?.join(',') ?? 'anywhere',
};

export const KEY_COMMANDS = {
  'key create': describe({
    about: 'make a key; its token is shown this once',
    declare: declareCreate,
    input: newKeyOf,
    text: (created: CreatedKey) => describeCreated(created),
    names: ({ label }) => [label],
  }),
  'key list': describe({
    about: 'all keys, tokens masked',
    input: noInput,
    text: (listed: readonly ListedKey[], view) => listOf(view, COLUMNS, listed, 'there are no keys'),
    names: (listed) => listed.map(({ label }) => label),
  }),
  'key delete': removal('revoke a key at once; its sessions end, its open sockets are closed'),
  'key revoke': removal('the same as delete'),
};

function declareCreate(command: Command): void {
  command
    .addArgument(new Argument('<label>'))
    .addArgument(new Argument('[scope]').choices(SCOPES))
    .usage('[options] <label> <scope>')
    .addOption(new Option('--scope <scope>', 'what it may do, another way to write it').choices(SCOPES))
    .option(
      '--configurations <names>',
      'what it sees: names or patterns such as lobby*,survival',
      (text: string) => entriesOf(text, (pattern) => NAME_PATTERN.test(pattern), NAME_PATTERN_RULE),
    )
    .option(
      '--expires <time>',
      'when it ends: 12h, 30d, a date such as 2027-01-31, never',
      expiresOf,
      'never',
    )
    .option(
      '--from <addresses>',
      'where it may be used from, such as 10.0.0.0/8,2001:db8::/32',
      (text: string) => entriesOf(text, isAddressRange, ADDRESS_RANGE_RULE),
    );
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

function describeCreated({ label, scope, configurations, from, expiresAt, token }: CreatedKey): string {
  const limits = [
    ...(configurations === null ? [] : [`configurations ${configurations.join(', ')}`]),
    ...(from === null ? [] : [`from ${from.join(', ')}`]),
    ...(expiresAt === null ? [] : [`until ${instantText(expiresAt)}`]),
  ];
  return `${token}\nThis is the token of key ${label} (${[scope, ...limits].join('; ')}). It is not shown again: keep it safe.`;
}

export function expiryText(
  { expiresAt, isExpired }: Pick<ListedKey, 'expiresAt' | 'isExpired'>,
  now: number,
): string {
  if (expiresAt === null) return 'never';
  return isExpired ? 'expired' : `in ${durationText(expiresAt - now)}`;
}

function lastUseText({ lastUsedAt, lastUsedFrom }: ListedKey, now: number): string {
  return lastUsedAt === null ? 'never' : `${durationText(now - lastUsedAt)} ago, ${lastUsedFrom}`;
}

function removal(about: string) {
  return describe({
    usage: '<label>',
    about,
    input: (label: string) => ({ label }),
    text: (deleted: Said<'label'>) => messageText(deleted),
    names: ({ label }) => [label],
    destroys: ({ label }) => `key ${label} is revoked, and its sessions end`,
  });
}

function entriesOf(text: string, isValid: (entry: string) => boolean, rule: string): readonly string[] {
  const entries = text.split(',');
  if (entries.length > MAX_KEY_ENTRIES)
    throw new InvalidArgumentError(`It must have ${MAX_KEY_ENTRIES} entries at most.`);
  const wrong = entries.find((entry) => !isValid(entry));
  if (wrong !== undefined) throw new InvalidArgumentError(`${quoteText(wrong)} ${rule}.`);
  return entries;
}

/** Reads an option with the end of something. Throws what Commander prints. */
export function expiresOf(text: string): string {
  if (parseExpiry(text, 0) === undefined) throw new InvalidArgumentError(`It ${EXPIRY_RULE}.`);
  return text;
}

const SESSION_COLUMNS: Columns<ListedSession> = {
  ID: ({ id }) => id,
  KEY: ({ key }) => key,
  SCOPE: ({ scope }) => scope,
  ENDS: ({ endsAt }, now) => `in ${durationText(endsAt - now)}`,
  'LAST USED': ({ lastUsedAt }, now) => `${durationText(now - lastUsedAt)} ago`,
  FROM: ({ lastUsedFrom }) => lastUsedFrom,
  AGE: ({ createdAt }, now) => durationText(now - createdAt),
};

export const SESSION_COMMANDS = {
  'session list': describe({
    about: 'all sessions, the oldest first',
    input: noInput,
    text: (listed: readonly ListedSession[], view) =>
      listOf(view, SESSION_COLUMNS, listed, 'there are no sessions'),
    names: (listed) => listed.map(({ id }) => id),
  }),
  'session revoke': describe({
    usage: '<session-id>',
    about: 'end a session at once; its open sockets are closed',
    input: (id: string) => ({ id }),
    text: (ended: Said<'id'>) => messageText(ended),
    names: ({ id }) => [id],
    destroys: ({ id }) => `session ${id} is ended`,
  }),
};
