/**
 * The key that all masters of a cluster hold, and nobody else. It seals the secrets that masters share through the
 * store. A master gives it only to a node that becomes a master (`drover join --as-master`).
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { z } from 'zod';
import { corruptStore, invalidNodeConfiguration } from '../../model/errors.js';
import type { Sealing } from '../../model/fields/secret.js';

/** A key of 32 bytes. Printing it shows nothing. */
export type ClusterKey = KeyObject;

const KEY_BYTES = 32;
const SALT_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';
const TEXT = /^[0-9a-f]{64}\n?$/;

/** A sealed secret as the store holds it; bytes in base64. */
export const sealedSecretSchema = z.object({
  /** The id of the cluster key, which tells another key from damage. */
  keyId: z.string(),
  salt: z.string(),
  nonce: z.string(),
  /** The secret, followed by the tag that authenticates it. */
  sealed: z.string(),
});
type SealedSecret = z.output<typeof sealedSecretSchema>;

export function generateClusterKey(): ClusterKey {
  return createSecretKey(randomBytes(KEY_BYTES));
}

/** The text of the key's file. A secret. */
export function clusterKeyText(key: ClusterKey): string {
  return `${key.export().toString('hex')}\n`;
}

/** Reads the text of a key's file; undefined: it is no cluster key. */
export function readClusterKey(text: string): ClusterKey | undefined {
  return TEXT.test(text) ? createSecretKey(text.trim(), 'hex') : undefined;
}

/** An id of the key that reveals nothing of it. */
function clusterKeyId(key: ClusterKey): string {
  const hash = createHash('sha256').update(derive(key, Buffer.alloc(0), 'id'));
  return hash.digest('hex').slice(0, 16);
}

/**
 * Seals a secret under a key derived for this record only. `name` is part of the seal, so that no record passes for
 * another.
 */
export function sealSecret(key: ClusterKey, name: string, secret: string): SealedSecret {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, derive(key, salt, `secret ${name}`), nonce);
  cipher.setAAD(Buffer.from(name));
  const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
  return {
    keyId: clusterKeyId(key),
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    sealed: sealed.toString('base64'),
  };
}

/**
 * Opens a sealed secret. Throws DRV_NODE_CONFIG_INVALID when another key sealed it, and DRV_STORE_CORRUPT when it was
 * changed since.
 */
export function openSecret(key: ClusterKey, name: string, { keyId, ...sealed }: SealedSecret): string {
  if (keyId !== clusterKeyId(key))
    throw invalidNodeConfiguration(
      `data/cluster/cluster.key is not the key of this cluster: copy it from another master or from a backup, or run "drover join --as-master" anew`,
    );
  const bytes = Buffer.from(sealed.sealed, 'base64');
  const salt = Buffer.from(sealed.salt, 'base64');
  try {
    const nonce = Buffer.from(sealed.nonce, 'base64');
    const options = { authTagLength: TAG_BYTES };
    const decipher = createDecipheriv(CIPHER, derive(key, salt, `secret ${name}`), nonce, options);
    decipher.setAAD(Buffer.from(name));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG_BYTES)), decipher.final()]).toString();
  } catch (cause) {
    throw corruptStore(`the sealed secret "${name}" in the store was changed`, { cause });
  }
}

/** Seals texts with `key`; a sealed text is the JSON of a sealed secret. */
export function sealingWith(key: ClusterKey): Sealing {
  return {
    seal: (name, text) => JSON.stringify(sealSecret(key, name, text)),
    open: (name, sealed) => openSecret(key, name, sealedSecretSchema.parse(JSON.parse(sealed))),
  };
}

function derive(key: ClusterKey, salt: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, salt, `drover ${purpose}`, KEY_BYTES));
}
