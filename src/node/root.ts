/**
 * The node's directory: all paths under the root. Makes missing directories, and refuses a root that is unusable or
 * open to others. The content of files is not this file's concern.
 */
import { createHash } from 'node:crypto';
import { access, chmod, constants, mkdir, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { fileReason } from '../configuration-files/file-reason.js';
import { hasFileCode, ignoring } from '../files/system-error.js';
import { type DroverError, unusableRoot } from '../model/errors.js';
import { lockKeyOf, shortDirectoryOf } from './hidden-names.js';
import { refuseIfOpen } from './private-path.js';

/** The absolute real paths of a root. */
export interface RootPaths {
  readonly root: string;
  /** A short stable name of this root, part of every socket, session and label: `[0-9a-f]{12}`. */
  readonly rootId: string;
  readonly configFile: string;
  readonly configurations: string;
  readonly templates: string;
  readonly extensions: string;
  readonly running: string;
  readonly logs: string;
  readonly instanceLogs: string;
  readonly droverLog: string;
  readonly auditLog: string;
  /** The data of the daemon, mode 0700; only the daemon uses it. */
  readonly data: string;
  /**
   * The directory of Unix sockets, mode 0700. It may lie outside of the root, because paths of sockets must be short.
   */
  readonly sockets: string;
  readonly store: string;
  readonly templateCache: string;
  /** Copies of templates from storages. */
  readonly storages: string;
  /** Downloads under way. */
  readonly downloads: string;
  /** Uploads under way. */
  readonly uploads: string;
  /** The usage of instances over the last day. */
  readonly usage: string;
  /** Data that extensions keep between starts. */
  readonly extensionData: string;
  /** Keys and certificates of the cluster. The directory is made with its first file. */
  readonly cluster: string;
  readonly adminKey: string;
  /** The certificate of the cluster's authority, for clients of the API. It is not secret. */
  readonly apiAuthority: string;
  readonly lockFile: string;
  /** The part of the names of locks that no other user can guess. It is not a path. */
  readonly lockKey: string;
}

/** `sun_path` holds 108 bytes with the closing NUL. */
const MAX_SOCKET_PATH_BYTES = 107;
/** The longest name of a socket in `sockets`, with its slash. */
const SOCKET_NAME_BYTES = 40;

/**
 * Makes missing directories under `root` and answers with all paths. Repeatable. Among directories that exist, only
 * `running/` gets another mode. Throws DRV_NODE_ROOT_UNUSABLE with one line: the path, what is wrong, what to do.
 */
export async function prepareRoot(root: string): Promise<RootPaths> {
  const path = await usableRoot(resolve(root));
  const data = join(path, 'data');
  await provide(data, { made: 0o700, demanded: 0o700 });
  const rootId = await rootIdOf(data);
  const paths = pathsUnder(path, rootId, {
    sockets: await socketDirectory(data),
    lockKey: await lockKeyOf(data),
  });
  const { configurations, templates, extensions, running, logs, instanceLogs } = paths;
  // Use 0750: files that an operator writes may hold passwords, and a group may be given access by hand.
  for (const directory of [configurations, templates]) await provide(directory, { made: 0o750 });
  for (const directory of [extensions, logs, instanceLogs]) await provide(directory);
  await provide(running, { made: 0o700 });
  await closeRunning(running);
  const { sockets, store, templateCache, storages, downloads, uploads, usage, extensionData } = paths;
  for (const directory of [sockets, store, templateCache, storages, downloads, uploads, usage, extensionData])
    await provide(directory, { made: 0o700, demanded: 0o700 });
  await refuseIfOpen(paths.adminKey, 0o600);
  await refuseIfOpen(paths.cluster, 0o700);
  return paths;
}

function pathsUnder(root: string, rootId: string, hidden: Pick<RootPaths, 'sockets' | 'lockKey'>): RootPaths {
  const data = join(root, 'data');
  return {
    root,
    rootId,
    configFile: join(root, 'config.json'),
    configurations: join(root, 'configurations'),
    templates: join(root, 'templates'),
    extensions: join(root, 'extensions'),
    running: join(root, 'running'),
    logs: join(root, 'logs'),
    instanceLogs: join(root, 'logs', 'instances'),
    droverLog: join(root, 'logs', 'drover.log'),
    auditLog: join(root, 'logs', 'audit.log'),
    data,
    store: join(data, 'store'),
    templateCache: join(data, 'template-cache'),
    storages: join(data, 'storages'),
    downloads: join(data, 'downloads'),
    uploads: join(data, 'uploads'),
    usage: join(data, 'usage'),
    extensionData: join(data, 'extensions'),
    cluster: join(data, 'cluster'),
    adminKey: join(data, 'admin.key'),
    apiAuthority: join(root, 'api-ca.pem'),
    lockFile: join(data, 'lock'),
    ...hidden,
  };
}

async function socketDirectory(data: string): Promise<string> {
  const wanted = join(data, 'sockets');
  const isShort = Buffer.byteLength(wanted) + SOCKET_NAME_BYTES <= MAX_SOCKET_PATH_BYTES;
  return isShort ? wanted : await shortDirectoryOf(data);
}

async function usableRoot(root: string): Promise<string> {
  const parent = dirname(root);
  if (!(await isDirectory(parent)))
    throw unusable(root, `cannot be made: ${parent} is not a directory that exists; make it first`);
  try {
    await makeDirectory(root);
    return await realpath(root);
  } catch (error) {
    if (hasFileCode(error, 'ENOTDIR')) throw unusable(root, 'is not a directory; give another with --root');
    throw unusable(root, `cannot be used: ${fileReason(error)}; it must be writable for this user`, error);
  }
}

/**
 * Makes a directory, or checks an existing one. `made`: the mode of a new directory. `demanded`: refuses an existing
 * directory that grants more.
 */
async function provide(
  path: string,
  { made, demanded }: { readonly made?: number; readonly demanded?: 0o700 } = {},
): Promise<void> {
  try {
    await makeDirectory(path, made);
  } catch (error) {
    const why = hasFileCode(error, 'ENOTDIR') ? 'it is not a directory; move it away' : fileReason(error);
    throw unusable(path, `the node's ${basename(path)} directory cannot be used: ${why}`, error);
  }
  if (demanded !== undefined) await refuseIfOpen(path, demanded);
}

/**
 * Keeps other users from listing and writing `running/`. They may still pass through: instances have users of their own
 * there.
 */
async function closeRunning(path: string): Promise<void> {
  const { mode } = await stat(path);
  if ((mode & 0o066) !== 0) await chmod(path, 0o700).catch(() => undefined);
}

/**
 * Makes a directory. Does not use `recursive`: in Node it never ends when the system answers ENOENT for an existing
 * parent, as in /proc.
 */
async function makeDirectory(path: string, mode?: number): Promise<void> {
  await mkdir(path, mode).catch(ignoring('EEXIST'));
  // The trailing slash makes the answer ENOTDIR for anything but a directory.
  await access(`${path}/`, constants.R_OK | constants.W_OK | constants.X_OK);
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (status) => status.isDirectory(),
    () => false,
  );
}

function unusable(path: string, problem: string, cause?: unknown): DroverError {
  return unusableRoot(`${path}: ${problem}`, { cause });
}

/**
 * The identity of the root at this path. A new directory at the same path is another root: processes of the former root
 * do not belong to it.
 */
async function rootIdOf(data: string): Promise<string> {
  const { dev, ino } = await stat(data, { bigint: true });
  return createHash('sha256').update(`${data}\0${dev}\0${ino}`).digest('hex').slice(0, 12);
}
