/**
 * The form of a join token: `drvjoin_`, then in base64url the fingerprint of the master's authority, the token's id,
 * its secret, and a checksum. The checksum finds an incomplete copy. join-tokens.ts knows which tokens are valid.
 */
import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { DroverError } from '../../model/errors.js';

const PREFIX = 'drvjoin_';
const FINGERPRINT_BYTES = 32;
const ID_BYTES = 6;
/** The length of a secret, 160 bits. */
const SECRET_BYTES = 20;
const CHECKSUM_BYTES = 4;
const BODY_BYTES = FINGERPRINT_BYTES + ID_BYTES + SECRET_BYTES;

export interface JoinToken {
  /** SHA-256 of the authority's certificate, hex. */
  readonly fingerprint: string;
  /** The id of the token, 12 hex digits. */
  readonly id: string;
  /** The secret in base64url. */
  readonly secret: string;
}

/** Makes a token for nodes that are to trust the authority with this fingerprint. */
export function generateJoinToken(fingerprint: string): JoinToken {
  return {
    fingerprint,
    id: randomBytes(ID_BYTES).toString('hex'),
    secret: randomBytes(SECRET_BYTES).toString('base64url'),
  };
}

export function formatJoinToken({ fingerprint, id, secret }: JoinToken): string {
  const body = Buffer.concat([
    Buffer.from(fingerprint, 'hex'),
    Buffer.from(id, 'hex'),
    Buffer.from(secret, 'base64url'),
  ]);
  return PREFIX + Buffer.concat([body, checksumOf(body)]).toString('base64url');
}

/** Reads a token. Throws DRV_JOIN_REFUSED, without repeating the text. */
export function parseJoinToken(text: string): JoinToken {
  const encoded = text.startsWith(PREFIX) ? text.slice(PREFIX.length) : '';
  const bytes = Buffer.from(encoded, 'base64url');
  const body = bytes.subarray(0, BODY_BYTES);
  const isWhole =
    bytes.length === BODY_BYTES + CHECKSUM_BYTES &&
    bytes.toString('base64url') === encoded &&
    checksumOf(body).equals(bytes.subarray(BODY_BYTES));
  if (!isWhole)
    throw new DroverError(
      'DRV_JOIN_REFUSED',
      `the join token is not complete: it starts with ${PREFIX} and is copied whole, as "drover token" on the master printed it`,
    );
  return {
    fingerprint: body.toString('hex', 0, FINGERPRINT_BYTES),
    id: body.toString('hex', FINGERPRINT_BYTES, FINGERPRINT_BYTES + ID_BYTES),
    secret: body.toString('base64url', FINGERPRINT_BYTES + ID_BYTES),
  };
}

/** The SHA-256 of a token's secret, hex; only this is stored. */
export function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function checksumOf(body: Buffer): Buffer {
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32BE(crc32(body));
  return checksum;
}
