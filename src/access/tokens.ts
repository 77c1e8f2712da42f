/**
 * Makes and checks bearer tokens: the prefix `drv_` (for a session `drvs_`), a base62 body, and six base62 characters
 * of CRC32. The checksum catches typing errors and lets secret scanners be sure. The tokens of keys and sessions are
 * random; an instance's token is derived and never stored.
 */
import { createHash, createHmac, randomBytes, randomInt, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { unusableRoot } from '../model/errors.js';
import type { InstanceRecord } from '../model/instance.js';
import { isInstanceId } from '../model/names.js';
import { keepLatest } from '../model/plain/keep-latest.js';
import type { MirrorReader } from '../store/mirror.js';

const PREFIX = 'drv_';
const SESSION_PREFIX = 'drvs_';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 30 base62 characters are 178.6 bits. */
const SECRET_CHARS = 30;
const CHECKSUM_CHARS = 6;
const ID_CHARS = 6;
const SECRET_BYTES = 32;

export const KEY_TOKEN_LENGTH = PREFIX.length + SECRET_CHARS + CHECKSUM_CHARS;
export const SESSION_TOKEN_LENGTH = SESSION_PREFIX.length + SECRET_CHARS + CHECKSUM_CHARS;
export const INSTANCE_TOKEN_LENGTH = KEY_TOKEN_LENGTH + ID_CHARS;
const TOKEN_PATTERN = /^(?:drv_[0-9A-Za-z]{36}(?:[0-9A-Za-z]{6})?|drvs_[0-9A-Za-z]{36})$/;

/** Makes the random token of a key. It is shown once; only its `hashToken` is kept. */
export function generateToken(): string {
  return withChecksum(randomSecret());
}

/** Makes the random token of a session, which is shown and kept like that of a key. */
export function generateSessionToken(): string {
  return withChecksum(randomSecret(), SESSION_PREFIX);
}

/**
 * True when `text` has prefix, alphabet, length and checksum of a token. Whether a key has this token is another
 * question.
 */
export function isWellFormedToken(text: string): boolean {
  if (!TOKEN_PATTERN.test(text)) return false;
  const prefix = text.startsWith(PREFIX) ? PREFIX : SESSION_PREFIX;
  return text === withChecksum(text.slice(prefix.length, -CHECKSUM_CHARS), prefix);
}

/** SHA-256 of a token in hex. Only this is stored. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

/** The part of a token that `key list` shows: the prefix and the last four characters, which belong to the checksum. */
export function maskToken(token: string): string {
  return `${PREFIX}...${token.slice(-4)}`;
}

const MOST_REMEMBERED = 20_000;

/**
 * Returns the time when an instance was created; undefined: the instance is gone or never existed, so its token is
 * refused.
 */
type CreatedAtOf = (instanceId: string) => number | undefined;

/**
 * Looks up times of creation in the mirror. An instance with goal `remove` counts as gone, though its process may
 * still run.
 */
export function creationOfKept(instances: Pick<MirrorReader<InstanceRecord>, 'get'>): CreatedAtOf {
  return (id) => {
    const record = instances.get(id)?.value;
    return record?.desired.goal === 'remove' ? undefined : record?.createdAt;
  };
}

/**
 * Makes and checks the tokens with which instances report their own state. A token is an HMAC over id and time of
 * creation.
 */
export class InstanceTokens {
  readonly #secret: Buffer;
  readonly #createdAtOf: CreatedAtOf;
  /**
   * The latest tokens, by instance. The feed sends the token with each change of an instance; making it again would
   * cost more than the rest of the message.
   */
  readonly #issued = new Map<string, { readonly createdAt: number; readonly token: string }>();

  /** `secret`: 32 random bytes that outlive restarts. Another secret revokes every instance token. */
  constructor(secret: Buffer, createdAtOf: CreatedAtOf) {
    if (secret.length !== SECRET_BYTES)
      throw new RangeError(
        `the secret of instance tokens must be ${SECRET_BYTES} bytes, not ${secret.length}`,
      );
    this.#secret = secret;
    this.#createdAtOf = createdAtOf;
  }

  /** Returns the token of an instance: always the same one for the same id and time of creation. */
  issue(instanceId: string, createdAt: number): string {
    const known = this.#issued.get(instanceId);
    if (known?.createdAt === createdAt) return known.token;
    const mac = createHmac('sha256', this.#secret).update(`${instanceId}\n${createdAt}`).digest();
    const token = withChecksum(instanceId + base62(mac));
    keepLatest(this.#issued, MOST_REMEMBERED, instanceId, { createdAt, token });
    return token;
  }

  /**
   * Returns the id of the instance that `token` belongs to. Undefined when the token is wrong or the instance is
   * gone.
   */
  verify(token: string): string | undefined {
    if (token.length !== INSTANCE_TOKEN_LENGTH || !isWellFormedToken(token)) return undefined;
    const instanceId = token.slice(PREFIX.length, PREFIX.length + ID_CHARS);
    if (!isInstanceId(instanceId)) return undefined;
    const createdAt = this.#createdAtOf(instanceId);
    if (createdAt === undefined) return undefined;
    const expected = Buffer.from(this.issue(instanceId, createdAt));
    return timingSafeEqual(expected, Buffer.from(token)) ? instanceId : undefined;
  }
}

function randomSecret(): string {
  let secret = '';
  for (let index = 0; index < SECRET_CHARS; index++) secret += ALPHABET[randomInt(ALPHABET.length)];
  return secret;
}

function withChecksum(body: string, prefix: string = PREFIX): string {
  let rest = crc32(body);
  let checksum = '';
  for (let index = 0; index < CHECKSUM_CHARS; index++) {
    checksum = ALPHABET.charAt(rest % ALPHABET.length) + checksum;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return prefix + body + checksum;
}

function base62(bytes: Buffer): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (let index = 0; index < SECRET_CHARS; index++) {
    text += ALPHABET.charAt(Number(rest % 62n));
    rest /= 62n;
  }
  return text;
}

/** Where the secret is kept, as hexadecimal text: a file of the master, or the store that masters share. */
interface TokenSecretFile {
  /** The name of the secret's place, for messages. */
  readonly name: string;
  /** Reads the secret; undefined: it was never made. */
  read(): Promise<string | undefined>;
  write(hex: string): Promise<void>;
}

/** Reads the secret, or makes it. Throws DRV_NODE_ROOT_UNUSABLE when it has another length. */
export async function ensureTokenSecret(file: TokenSecretFile): Promise<Buffer> {
  const hex = await file.read();
  if (hex === undefined) {
    const secret = randomBytes(SECRET_BYTES);
    await file.write(secret.toString('hex'));
    return secret;
  }
  const secret = Buffer.from(hex, 'hex');
  if (secret.length === SECRET_BYTES) return secret;
  throw unusableRoot(
    `${file.name} must hold ${SECRET_BYTES} bytes and holds ${secret.length}: delete it, and restart the instances, which then get new tokens`,
  );
}
