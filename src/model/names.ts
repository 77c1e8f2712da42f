/**
 * The patterns of addresses, of variables (`%NAME%`), and of names and ids that become part of a path, a key, a label
 * or a command line. A valid name can be joined to a directory without escaping from it.
 */
import { createHash, randomInt } from 'node:crypto';
import { isIP } from 'node:net';
import { z } from 'zod';
import { NAME } from './plain/name.js';

const INSTANCE_ID = /^[a-z0-9]{6}$/;
const ID_ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789';
const ID_LENGTH = 6;

const NAME_RULE =
  'must start with a letter or digit and hold only letters, digits, ".", "_" and "-" (64 characters at most)';

/** The name of a configuration, template, template group, node or runtime. */
export const nameSchema = z.string().regex(NAME, NAME_RULE);

export const portSchema = z.int().min(1).max(65_535);

/** A SHA-256, in hex. */
export const sha256Schema = z.string().regex(/^[0-9a-f]{64}$/);

/** The full hash of a commit of git. */
export const commitSchema = z.string().regex(/^[0-9a-f]{40,64}$/);

/** The largest id of a user. The next number means "leave it as it is" to the kernel. */
const LARGEST_USER_ID = 4_294_967_294;
const USER_IDS = /^([0-9]{1,10}):([0-9]{1,10})$/;
const USER_RULE = 'must be the name of a user, or "uid:gid" in numbers such as "1001:1001"';

/** The user that an instance runs as: a name that its node knows, or numbers. */
export const runAsSchema = z
  .string()
  .regex(/^(?:[A-Za-z_][A-Za-z0-9_.-]{0,31}|[0-9]{1,10}:[0-9]{1,10})$/, USER_RULE)
  .refine((text) => !text.includes(':') || parseUserIds(text) !== undefined, { error: USER_RULE });

export interface UserIds {
  readonly uid: number;
  readonly gid: number;
}

/** The numbers of `uid:gid`; undefined: the text has another form, or no user can have these numbers. */
export function parseUserIds(text: string): UserIds | undefined {
  const [, uid, gid] = USER_IDS.exec(text) ?? [];
  const ids = { uid: Number(uid), gid: Number(gid) };
  return ids.uid <= LARGEST_USER_ID && ids.gid <= LARGEST_USER_ID ? ids : undefined;
}

/** Underscores are no part of host names, but names of containers have them. */
const HOST_LABEL = /^[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?$/;
const MOST_HOST_CHARS = 253;

/** An IP address or a host name. */
export const addressSchema = z
  .string()
  .min(1)
  .refine((text) => text === '' || isIP(text) !== 0 || isHostName(text), {
    error: 'must be an IP address or a host name, without scheme, port or brackets',
  });

/** Checks the form only, and not whether the name resolves. */
function isHostName(text: string): boolean {
  const labels = text.replace(/\.$/, '').split('.');
  // A last label of digits means a wrong IP address: systems read 10.0.0 as 10.0.0.0.
  const isNumeric = /^(?:\d+|0x[0-9a-f]*)$/i.test(labels.at(-1) ?? '');
  return text.length <= MOST_HOST_CHARS && !isNumeric && labels.every((label) => HOST_LABEL.test(label));
}

/** True when `id` has the form of an instance id: 6 characters of `[a-z0-9]`. Check before any use in a path. */
export function isInstanceId(id: string): boolean {
  return INSTANCE_ID.test(id);
}

export const instanceIdSchema = z
  .string()
  .regex(INSTANCE_ID, 'must be 6 characters, lower-case letters and digits');

/** An instance id in an answer. Requests take any text, so that a wrong one is answered as an unknown instance. */
export const shownInstanceId = z.string().length(ID_LENGTH);

/** A random instance id of about 31 bits. The caller checks for a collision when it creates the record. */
export function randomInstanceId(): string {
  return Array.from({ length: ID_LENGTH }, () => ID_ALPHABET[randomInt(ID_ALPHABET.length)]).join('');
}

/** The id that belongs to a text: the same each time. */
export function instanceIdOf(text: string): string {
  const bytes = createHash('sha256').update(text).digest().subarray(0, ID_LENGTH);
  return [...bytes].map((byte) => ID_ALPHABET[byte % ID_ALPHABET.length]).join('');
}

const BUILT_IN_VARIABLES: ReadonlySet<string> = new Set([
  'PORT',
  'INSTANCE_ID',
  'CONFIGURATION_NAME',
  'NODE_ID',
  'HOST_ADDRESS',
  'NODE_ADDRESS',
  'MASTER_ADDRESS',
  'MASTER_IP',
  'MASTER_PORT',
  'MASTER_API_PORT',
  'WORKING_DIRECTORY',
  'RAM_MB',
  'CPU',
]);

/** True for the names of Drover's own variables, which properties and extensions cannot set. */
export function isBuiltInVariable(name: string): boolean {
  return BUILT_IN_VARIABLES.has(name);
}

/** `%NAME%`, with the names that the configuration schema allows for properties, and `%SECRET:db/password%`. */
const PLACEHOLDER = /%([A-Za-z_][A-Za-z0-9_.-]{0,127}|SECRET:[A-Za-z0-9._/-]{1,128})%/g;

/** A placeholder in a text: `[start, end)` and its name. */
export interface Placeholder {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The placeholders of `text` whose names `isKnown` accepts, in order. */
export function* placeholdersIn(text: string, isKnown: (name: string) => boolean): Generator<Placeholder> {
  // The expression is made anew for each call, because one with the flag `g` keeps its place.
  const pattern = new RegExp(PLACEHOLDER);
  for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
    const [whole, name = ''] = match;
    if (isKnown(name)) yield { name, start: match.index, end: match.index + whole.length };
    // The closing % of an unknown name may be the opening one of the next.
    else pattern.lastIndex = match.index + whole.length - 1;
  }
}

/** The names of all placeholders of `text`, in order, repeated ones too. */
export function placeholderNames(text: string): string[] {
  return [...placeholdersIn(text, () => true)].map(({ name }) => name);
}
