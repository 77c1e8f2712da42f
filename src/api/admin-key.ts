/**
 * The first key of a new master: made once, when the store holds no key at all, and written to `data/admin.key`
 * for the operator. Called at start, after the store is open and before the API listens.
 */
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ApiKeyRecord } from '../model/api-key.js';
import { DroverError } from '../model/errors.js';
import { apiKeyKey, PREFIX } from '../store/keys.js';
import { create, type Store } from '../store/store.js';
import { generateToken, hashToken, isWellFormedToken, KEY_TOKEN_LENGTH, maskToken } from './tokens.js';

const ADMIN_LABEL = 'admin';
const ADMIN_FILE = 'data/admin.key';

export interface AdminKeyOptions {
  readonly store: Store;
  /** Absolute path of `data/admin.key`. */
  readonly path: string;
  /** Wall clock, Unix milliseconds. */
  readonly now: number;
}

/**
 * Makes sure that a master without any key gets one, scope ALL, label `admin`. The file is written first: a crash
 * before the record is healed by the next start, which makes the record from the file. May be repeated. Throws
 * DRV_NODE_ROOT_UNUSABLE when the file can be read by others or cannot be written.
 */
export async function ensureAdminKey({ store, path, now }: AdminKeyOptions): Promise<{ created: boolean }> {
  const existing = await readAdminKey(path);
  const keys = await store.list(PREFIX.keys);
  if (keys.entries.length > 0) return { created: false };
  const token = existing ?? generateToken();
  if (existing === undefined) await writeAdminKey(path, token);
  const record: ApiKeyRecord = {
    label: ADMIN_LABEL,
    scope: 'ALL',
    hash: hashToken(token),
    mask: maskToken(token),
    createdAt: now,
  };
  await create(store, apiKeyKey(ADMIN_LABEL), record);
  return { created: true };
}

/** The token in the file; undefined when there is no file or no token in it. */
async function readAdminKey(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch(ignoreMissing);
  if (file === undefined) return undefined;
  try {
    const { mode } = await file.stat();
    if ((mode & 0o077) !== 0) {
      throw new DroverError(
        'DRV_NODE_ROOT_UNUSABLE',
        `${ADMIN_FILE} holds the admin key and can be read by other users: chmod 600 it, or delete the key`,
      );
    }
    const text = (await file.readFile('utf8')).trim();
    return text.length === KEY_TOKEN_LENGTH && isWellFormedToken(text) ? text : undefined;
  } finally {
    await file.close();
  }
}

async function writeAdminKey(path: string, token: string): Promise<void> {
  const draft = `${path}.new`;
  try {
    await rm(draft, { force: true });
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(`${token}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncDirectory(dirname(path));
  } catch (cause) {
    throw new DroverError(
      'DRV_NODE_ROOT_UNUSABLE',
      `cannot write ${ADMIN_FILE}: make data/ writable and free space`,
      {
        cause,
      },
    );
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw new DroverError(
    'DRV_NODE_ROOT_UNUSABLE',
    `cannot read ${ADMIN_FILE}: ${error.code ?? 'unknown error'}`,
    {
      cause: error,
    },
  );
}
