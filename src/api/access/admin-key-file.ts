/** The file `data/admin.key`: one token for the operator. Whether that token is valid is not decided here. */
import { open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { replaceFile } from '../../files/replace-file.js';
import { syncPath } from '../../files/sync-path.js';
import { DroverError } from '../../model/errors.js';
import { hashToken, isWellFormedToken, KEY_TOKEN_LENGTH } from './tokens.js';

export const ADMIN_FILE = 'data/admin.key';
/** More than any token: what is longer is none. */
const MAX_BYTES = 1024;

export type AdminKeyContent =
  | { readonly kind: 'token'; readonly token: string }
  /** `empty`: no character in it. `damaged`: something, but no token. */
  | { readonly kind: 'missing' | 'empty' | 'damaged' };

/** Throws DRV_NODE_ROOT_UNUSABLE when the file cannot be read, or can be by others. */
export async function readAdminKey(path: string): Promise<AdminKeyContent> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (file === undefined) return { kind: 'missing' };
  try {
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) {
      throw new DroverError(
        'DRV_NODE_ROOT_UNUSABLE',
        `${ADMIN_FILE} holds the admin key and can be read by other users: chmod 600 it, or delete the key`,
      );
    }
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES), 0, MAX_BYTES, 0);
    return contentOf(buffer.toString('utf8', 0, bytesRead).trim());
  } finally {
    await file.close();
  }
}

/** Whole or not at all. Throws DRV_NODE_ROOT_UNUSABLE. */
export async function writeAdminKey(path: string, token: string): Promise<void> {
  try {
    await replaceFile(path, `${token}\n`);
  } catch (cause) {
    throw new DroverError(
      'DRV_NODE_ROOT_UNUSABLE',
      `cannot write ${ADMIN_FILE}: make data/ writable and free space`,
      { cause },
    );
  }
}

/** Takes the file away when it holds the token of this hash; true when it did. */
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
  throw new DroverError(
    'DRV_NODE_ROOT_UNUSABLE',
    `cannot read ${ADMIN_FILE}: ${error.code ?? 'unknown error'}`,
    { cause: error },
  );
}
