/**
 * Reads, writes and removes `data/admin.key`, which holds one token for the operator. Whether the token is valid is
 * decided elsewhere. Used by `admin-key.ts` and `key-writer.ts`.
 */
import { constants, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from '../files/replace-file.js';
import { syncPath } from '../files/sync-path.js';
import { whileOpen } from '../files/while-open.js';
import { unusableRoot } from '../model/errors.js';
import { hashToken, isWellFormedToken, KEY_TOKEN_LENGTH } from './tokens.js';

export const ADMIN_FILE = 'data/admin.key';
/** How many bytes are read at most. A token is far shorter, so a longer file holds no token. */
const MAX_BYTES = 1024;

export type AdminKeyContent =
  | { readonly kind: 'token'; readonly token: string }
  /** `empty`: the file holds nothing, or only blanks. `damaged`: it holds something else than a token. */
  | { readonly kind: 'missing' | 'empty' | 'damaged' };

/** Reads the file. Throws DRV_NODE_ROOT_UNUSABLE when it cannot be read, or when other users can read it. */
export async function readAdminKey(path: string): Promise<AdminKeyContent> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK).catch(ignoreMissing);
  if (file === undefined) return { kind: 'missing' };
  return await whileOpen(file, async () => {
    const status = await file.stat();
    if (!status.isFile())
      throw unusableRoot(
        `${ADMIN_FILE} is not a regular file: move it away; a start then makes the admin key again when it is gone`,
      );
    const { mode } = status;
    if ((mode & 0o077) !== 0)
      throw unusableRoot(
        `${ADMIN_FILE} holds the admin key and can be read by other users: chmod 600 it, or delete the key`,
      );
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return contentOf(buffer.toString('utf8', 0, bytesRead).trim());
  });
}

/** Writes the whole file, or leaves it as it was. Throws DRV_NODE_ROOT_UNUSABLE. */
export async function writeAdminKey(path: string, token: string): Promise<void> {
  await replaceFile(path, `${token}\n`).catch((cause: unknown) => {
    throw unusableRoot(`cannot write ${ADMIN_FILE}: make data/ writable and free space`, { cause });
  });
}

/**
 * Removes the file when it holds the token with this hash. Returns true when it did. Throws DRV_NODE_ROOT_UNUSABLE
 * like `readAdminKey`.
 */
export async function removeAdminKey(path: string, hash: string): Promise<boolean> {
  const content = await readAdminKey(path);
  if (content.kind !== 'token' || hashToken(content.token) !== hash) return false;
  await rm(path, { force: true });
  await syncPath(dirname(path));
  return true;
}

function contentOf(text: string): AdminKeyContent {
  if (text === '') return { kind: 'empty' };
  const isToken = text.length === KEY_TOKEN_LENGTH && isWellFormedToken(text);
  return isToken ? { kind: 'token', token: text } : { kind: 'damaged' };
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw unusableRoot(`cannot read ${ADMIN_FILE}: ${error.code ?? 'unknown error'}`, { cause: error });
}
