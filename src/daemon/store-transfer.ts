/**
 * Moves the state of a master between a file and etcd, and into and out of backups, while the master is stopped. A
 * state on etcd can be backed up while masters run. Before anything else changes, the written state is read again and
 * compared.
 */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { whileOpen } from '../files/while-open.js';
import { SystemClock } from '../loop/system-clock.js';
import { DroverError } from '../model/errors.js';
import { hostPort } from '../model/host-port.js';
import type { NodeConfiguration } from '../model/node.js';
import { changeMainConfiguration, readMainConfiguration } from '../node/main-configuration.js';
import { prepareRoot, type RootPaths } from '../node/root.js';
import { acquireRootLock } from '../node/root-lock.js';
import { readBackup, writeBackup } from '../store/backup-file.js';
import { raiseEpochs } from '../store/epoch-base.js';
import { connectEtcd } from '../store/etcd/connect.js';
import { fillEtcd, type OpenEtcdStoreOptions, openEtcdStore, readEtcd } from '../store/etcd/open.js';
import { fillStore, openStore, wasStoreMade } from '../store/lmdb/open.js';
import type { Store, StoreState } from '../store/store.js';

export type StoreKind = 'lmdb' | 'etcd';

/** Prints a line for the waiting operator. */
type Say = (line: string) => void;

interface Place {
  readonly paths: RootPaths;
  readonly configuration: NodeConfiguration;
  readonly say: Say;
}

/** Moves the state to `kind`. Returns a report for the operator. Throws DroverErrors with one clear line. */
export function migrateStore(root: string, kind: StoreKind, say: Say): Promise<string> {
  return withStopped(root, say, async (place) => {
    if (place.configuration.store.kind !== 'etcd')
      throw invalid('config.json names no etcd: set "store" to {"kind": "etcd", "endpoints": [...]} first');
    const file = join(place.paths.store, 'master');
    if (kind === 'etcd') {
      if (!wasStoreMade(file)) throw invalid(`${file} holds no state`);
      const state = await move(place, 'lmdb', 'etcd');
      return `${describe(state)} are on etcd now; the file is kept in ${await setAside(file)}`;
    }
    const state = await move(place, 'etcd', 'lmdb');
    await changeMainConfiguration(place.paths.configFile, { store: { kind: 'lmdb' } });
    return `${describe(state)} are in ${file} now, and config.json says so; etcd keeps what it has`;
  });
}

/** Writes the state into `file`. Like `migrateStore`, but can read a state on etcd while masters run. */
export async function backupStore(root: string, file: string, say: Say): Promise<string> {
  const { configuration } = await masterIn(root);
  const read = async (place: Place): Promise<StoreState> =>
    configuration.store.kind === 'etcd' ? readEtcd(await etcdOptions(place)) : readState(place, 'lmdb');
  const around = configuration.store.kind === 'etcd' ? withAwake : withStopped;
  return around(root, say, async (place) => {
    const state = await read(place);
    await writeBackup(resolve(file), state);
    check(state, await readBackup(resolve(file)));
    return `${describe(state)} are in ${resolve(file)}`;
  });
}

/**
 * Replaces the state by the content of `file`. A state on etcd must be removed first. Otherwise like `migrateStore`.
 */
export function restoreStore(root: string, file: string, say: Say): Promise<string> {
  return withStopped(root, say, async (place) => {
    const { kind } = place.configuration.store;
    const state = await readBackup(resolve(file));
    const directory = join(place.paths.store, 'master');
    const isReplaced = kind === 'lmdb' && existsSync(directory);
    const kept = isReplaced ? `; the one before is kept in ${await setAside(directory)}` : '';
    check(await fill(place, kind, state), await readState(place, kind));
    return `${describe(state)} are restored${kept}; start with --accept-older, here and on the other nodes, when nodes have seen a newer state`;
  });
}

async function move(place: Place, from: StoreKind, to: StoreKind): Promise<StoreState> {
  const state = await readState(place, from);
  check(await fill(place, to, state), await readState(place, to));
  return state;
}

async function readState(place: Place, kind: StoreKind): Promise<StoreState> {
  return await whileOpen(open(place, kind), (store) => store.list(''));
}

async function open(place: Place, kind: StoreKind): Promise<Store> {
  if (kind === 'etcd') return openEtcdStore(await etcdOptions(place));
  const directory = join(place.paths.store, 'master');
  if (!wasStoreMade(directory)) throw invalid(`${directory} holds no state`);
  return openStore({ directory });
}

/** Writes the state into a store. Resolves with the written state. */
async function fill(place: Place, kind: StoreKind, state: StoreState): Promise<StoreState> {
  // Raise the epochs. A new etcd counts terms from 1, which nodes would refuse. After a restore, a revision number can
  // stand for another change than the one that nodes have seen.
  const raised = raiseEpochs(state, Date.now());
  if (kind === 'lmdb') await fillStore(join(place.paths.store, 'master'), raised);
  else await fillEtcd(await etcdOptions(place), raised);
  return raised;
}

async function etcdOptions({ paths, configuration, say }: Place): Promise<OpenEtcdStoreOptions> {
  const { store: settings, clusterName, nodeId, address, port } = configuration;
  if (settings.kind !== 'etcd') throw invalid('config.json names no etcd');
  const clock = new SystemClock();
  return {
    etcd: await connectEtcd(settings, paths.root, clock),
    prefix: settings.prefix ?? `/drover/${clusterName}`,
    own: { nodeId, clusterAddress: hostPort(address, port) },
    clock,
    onWait: say,
    signal: new AbortController().signal,
  };
}

function check(written: StoreState, read: StoreState): void {
  if (isDeepStrictEqual(plain(written), plain(read))) return;
  throw new DroverError(
    'DRV_STORE_CORRUPT',
    'the state that was written reads back differently: nothing else was changed',
  );
}

function plain({ entries, revision }: StoreState): unknown {
  return {
    revision,
    entries: entries.map(({ key, value, revision: of }) => [key, of, JSON.stringify(value)]),
  };
}

/** Renames a directory, which stays as a copy. Returns the new name. */
async function setAside(directory: string): Promise<string> {
  const name = `${directory}.${new Date().toISOString().replace(/[:.]/g, '-')}`;
  await rename(directory, name);
  return name;
}

/** Runs `work` while Drover is stopped. Throws DRV_NODE_ROOT_LOCKED while Drover runs in this root. */
async function withStopped(root: string, say: Say, work: (place: Place) => Promise<string>): Promise<string> {
  const { paths } = await masterIn(root);
  const lock = await acquireRootLock(paths);
  try {
    return await withAwake(root, say, work);
  } finally {
    await lock.release();
  }
}

async function withAwake(root: string, say: Say, work: (place: Place) => Promise<string>): Promise<string> {
  // Keeps the process alive, because the clock's timers do not.
  const alive = setInterval(() => undefined, 60_000);
  try {
    return await work({ ...(await masterIn(root)), say });
  } finally {
    clearInterval(alive);
  }
}

/** The master of this root. Throws DRV_NODE_CONFIG_INVALID when the root has no master. */
async function masterIn(root: string): Promise<Omit<Place, 'say'>> {
  const configuration = await readMainConfiguration(join(resolve(root), 'config.json'));
  if (configuration?.isMasterNode !== true)
    throw invalid(`there is no master in ${resolve(root)}: name its directory with --root`);
  return { configuration, paths: await prepareRoot(root) };
}

function describe({ entries, revision }: StoreState): string {
  return `${entries.length} entries at revision ${revision}`;
}

function invalid(message: string): DroverError {
  return new DroverError('DRV_NODE_CONFIG_INVALID', message);
}
