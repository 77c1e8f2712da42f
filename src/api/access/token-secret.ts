/** Keeps the secret behind the instances' own tokens: made once per master, stored in `data/` (0600), never shown. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { replaceFile } from '../../files/replace-file.js';
import { DroverError } from '../../model/errors.js';

const SECRET_BYTES = 32;

/** Reads the secret, or makes it. Throws DRV_NODE_ROOT_UNUSABLE when the file has another length. */
export async function ensureTokenSecret(path: string): Promise<Buffer> {
  const existing = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (existing !== undefined) {
    if (existing.length === SECRET_BYTES) return existing;
    throw new DroverError(
      'DRV_NODE_ROOT_UNUSABLE',
      `${path} must hold ${SECRET_BYTES} bytes and holds ${existing.length}: delete it, and restart the instances, which then get new tokens`,
    );
  }
  const secret = randomBytes(SECRET_BYTES);
  await replaceFile(path, secret);
  return secret;
}
