/** Finds the node whose root is named or holds the current directory, and its key `data/admin.key`. */
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { failedError, usageError } from '../../command-tree/runs/client-error.js';
import { ownUser } from '../../files/own-user.js';
import { isMissing } from '../../files/system-error.js';
import { shellWord } from '../../model/words.js';
import { reasonOf } from '../connection/private-text.js';
import type { Target } from '../connection/target.js';
import type { Trust } from '../connection/trust.js';
import { type Fields, isFields } from './context-file.js';

const DEFAULT_API_PORT = 7000;
/** The certificate of the cluster's authority, written here by a master that uses one. */
const AUTHORITY_FILE = 'api-ca.pem';

/**
 * Returns the nearest directory, from `directory` upwards, that is the root of a master of this user; undefined: there
 * is none. Another user's root must be named explicitly, because its owner would receive the commands.
 */
export async function findOwnRoot(directory: string): Promise<string | undefined> {
  for (let root = resolve(directory); ; root = dirname(root)) {
    if ((await isOwn(root, 'config.json')) && (await isOwn(root, 'data/admin.key'))) return root;
    if (root === dirname(root)) return undefined;
  }
}

/** True when `directory` is the root of this user's node, but holds no key to call that node with. */
export async function isKeyless(directory: string): Promise<boolean> {
  return (await isOwn(directory, 'config.json')) && !(await isOwn(directory, 'data/admin.key'));
}

async function isOwn(root: string, name: string): Promise<boolean> {
  const status = await stat(join(root, name)).catch(() => undefined);
  return status?.isFile() === true && status.uid === ownUser().uid;
}

/** Returns the master of a root. Throws a ClientError when `directory` is not the root of a master. */
export async function targetOfRoot(directory: string): Promise<Target> {
  const root = resolve(directory);
  const fields = await readConfiguration(root);
  if (fields.isMasterNode === false)
    throw usageError(
      `the node in ${root} is not the master: its commands run on ${String(fields.masterAddress)}`,
    );
  const { apiPort = DEFAULT_API_PORT, apiTls } = fields;
  const scheme = apiTls === undefined ? 'http' : 'https';
  const host = localHostOf(fields);
  return {
    name: root,
    kind: 'root',
    url: `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${String(apiPort)}`,
    key: { kind: 'file', path: join(root, 'data', 'admin.key') },
    trust: trustOf(root, apiTls),
  };
}

async function readConfiguration(root: string): Promise<Fields> {
  const file = join(root, 'config.json');
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    if (isMissing(error))
      throw usageError(`there is no node in ${root} (no config.json): give another --root`);
    throw failedError(`${file} cannot be read: ${reasonOf(error)}`);
  });
  try {
    const value: unknown = JSON.parse(text);
    if (isFields(value)) return value;
  } catch {
    // The error below covers a file that does not parse, too. `drover start` tells the exact fault of the file.
  }
  throw failedError(`${file} is not valid: "drover start --root ${shellWord(root)}" says what is wrong`);
}

/** Returns the local host name for calls to the API. The node's `bindAddressOf` decides where the API listens. */
function localHostOf({ bindAddress, address }: Fields): string {
  if (typeof bindAddress === 'string') {
    if (bindAddress === '0.0.0.0') return '127.0.0.1';
    return bindAddress === '::' ? '::1' : bindAddress;
  }
  const isOwn = typeof address === 'string' && (/^127\./.test(address) || address === '::1');
  if (isOwn) return address;
  return typeof address === 'string' && isIP(address) === 6 ? '::1' : '127.0.0.1';
}

function trustOf(root: string, apiTls: unknown): Trust {
  if (apiTls === undefined) return { kind: 'system' };
  const file = isFields(apiTls) ? String(apiTls.certificate) : AUTHORITY_FILE;
  const path = resolve(root, file);
  return { kind: 'file', path, from: path };
}
