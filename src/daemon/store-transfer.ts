/**
 * Moves the state of a master between a file and etcd, and into and out of backups, while the master is stopped, and
 * repairs damaged stores. A state on etcd can be backed up while masters run. Before anything else changes, the written
 * state is read again and compared.
 */
import { rename } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { whileOpen } from '../files/while-open.js';
import { SystemClock } from '../loop/system-clock.js';
import { corruptStore, DroverError, invalidNodeConfiguration, messageOf } from '../model/errors.js';
import type { NodeConfiguration } from '../model/node.js';
import { changeMainConfiguration, readMainConfiguration } from '../node/main-configuration.js';
import { prepareRoot, type RootPaths } from '../node/root.js';
import { acquireRootLock } from '../node/root-lock.js';
import { problemOfRecord } from '../state/record-schemas.js';
import { type Backup, readBackup, writeBackup } from '../store/backup-file.js';
import { raiseEpochs } from '../store/epoch-base.js';
import { connectEtcd } from '../store/etcd/connect.js';
import { fillEtcd, type OpenEtcdStoreOptions, openEtcdStore, readEtcd } from '../store/etcd/open.js';
import { DATA_FILE, fillStore, openStore, wasStoreMade } from '../store/lmdb/open.js';
import { checkSame, newNameBeside, replaceStore } from '../store/lmdb/replace.js';
import { type Salvaged, salvage } from '../store/lmdb/salvage.js';
import type { Store, StoreState } from '../store/store.js';
import { entryOf } from './open-on-etcd.js';

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
      throw invalidNodeConfiguration(
        'config.json names no etcd: set "store" to {"kind": "etcd", "endpoints": [...]} first',
      );
    const file = join(place.paths.store, 'master');
    if (kind === 'etcd') {
      if (!wasStoreMade(file)) throw invalidNodeConfiguration(`${file} holds no state`);
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
    checkSame(state, await readBackup(resolve(file)));
    return `${describe(state)} are in ${resolve(file)}`;
  });
}

/**
 * Replaces the state by the content of `file`. A state on etcd must be removed first. Otherwise like `migrateStore`.
 */
export function restoreStore(root: string, file: string, say: Say): Promise<string> {
  return withStopped(root, say, async (place) => {
    const state = await readBackup(resolve(file));
    judge(resolve(file), state, say);
    const former = await replace(place, state);
    const kept = former === undefined ? '' : `; the one before is kept in ${former}`;
    return `${describe(state)} are restored${kept}; start with --accept-older, here and on the other nodes, when nodes have seen a newer state`;
  });
}

/**
 * Sets the broken records of the stores of a stopped node aside: writes everything else into a new file, and keeps the
 * damaged file. Changes nothing in a store that is whole. Returns a report. Throws DRV_STORE_CORRUPT when no record of
 * a store can be read.
 */
export async function repairStores(root: string): Promise<string> {
  const path = join(resolve(root), 'config.json');
  if ((await readMainConfiguration(path)) === undefined)
    throw invalidNodeConfiguration(`there is no node in ${resolve(root)}: name its directory with --root`);
  const paths = await prepareRoot(root);
  const lock = await acquireRootLock(paths);
  try {
    const reports: string[] = [];
    for (const name of ['master', 'node'] as const) {
      const directory = join(paths.store, name);
      if (wasStoreMade(directory)) reports.push(await repair(directory, name));
    }
    return reports.length === 0 ? `${paths.store} holds no store: nothing to repair` : reports.join('\n');
  } finally {
    await lock.release();
  }
}

async function repair(directory: string, name: 'master' | 'node'): Promise<string> {
  const damage = await damageOf(directory);
  if (damage === undefined) return `the store ${directory} is whole: nothing was changed`;
  const { losses, ...state } = readSound(directory, damage);
  const kept = await replaceStore(directory, name === 'master' ? raised(state) : state);
  return [
    `the store ${directory} was damaged; what cannot be read is set aside:`,
    ...losses.map((loss) => `  ${loss}`),
    `${describe(state)} are kept; the damaged file is kept in ${kept}`,
  ].join('\n');
}

/** The error with which a store refuses to open; undefined: it is whole. */
async function damageOf(directory: string): Promise<DroverError | undefined> {
  try {
    await whileOpen(openStore({ directory }), async () => undefined);
    return undefined;
  } catch (error) {
    if (error instanceof DroverError && error.code === 'DRV_STORE_CORRUPT') return error;
    throw error;
  }
}

function readSound(directory: string, damage: DroverError): Salvaged {
  try {
    return salvage(join(directory, DATA_FILE));
  } catch (error) {
    throw corruptStore(
      `nothing in ${directory} can be read (${messageOf(error)}): restore a backup with "drover store restore", or move that directory away to start empty`,
      { cause: damage },
    );
  }
}

/**
 * Judges the records of a backup by their schemas. In a backup with checksums, a record that a master cannot read was
 * so in its store; it is kept, because the master sets it aside. In an older backup it may be damage.
 */
function judge(file: string, { entries, isChecked }: Backup, say: Say): void {
  if (!isChecked)
    say(`warning: ${file} has format 1, without checksums: a byte that was changed in it can go unnoticed`);
  for (const entry of entries) {
    const problem = problemOfRecord(entry);
    if (problem === undefined) continue;
    if (!isChecked)
      throw corruptStore(
        `${file}: the record ${entry.key} cannot be read (${problem}): nothing was changed; take another backup, or remove the line of that record and lower "entries" in the first line by one`,
      );
    say(`warning: the record ${entry.key} cannot be read (${problem}): the master will set it aside`);
  }
}

/** Puts `state` in the place of the state of a master. Resolves with the directory that keeps the former file. */
async function replace(place: Place, state: StoreState): Promise<string | undefined> {
  if (place.configuration.store.kind === 'lmdb')
    return replaceStore(join(place.paths.store, 'master'), raised(state));
  checkSame(await fill(place, 'etcd', state), await readState(place, 'etcd'));
  return undefined;
}

async function move(place: Place, from: StoreKind, to: StoreKind): Promise<StoreState> {
  const state = await readState(place, from);
  checkSame(await fill(place, to, state), await readState(place, to));
  return state;
}

async function readState(place: Place, kind: StoreKind): Promise<StoreState> {
  return await whileOpen(open(place, kind), (store) => store.list(''));
}

async function open(place: Place, kind: StoreKind): Promise<Store> {
  if (kind === 'etcd') return openEtcdStore(await etcdOptions(place));
  const directory = join(place.paths.store, 'master');
  if (!wasStoreMade(directory)) throw invalidNodeConfiguration(`${directory} holds no state`);
  return openStore({ directory });
}

/** Writes the state into a store. Resolves with the written state. */
async function fill(place: Place, kind: StoreKind, state: StoreState): Promise<StoreState> {
  const filled = raised(state);
  if (kind === 'lmdb') await fillStore(join(place.paths.store, 'master'), filled);
  else await fillEtcd(await etcdOptions(place), filled);
  return filled;
}

/**
 * The state with raised epochs. A new etcd counts terms from 1, which nodes would refuse. After a restore, a revision
 * number can stand for another change than the one that nodes have seen.
 */
function raised(state: StoreState): StoreState {
  return raiseEpochs(state, Date.now());
}

async function etcdOptions(place: Place): Promise<OpenEtcdStoreOptions> {
  const { paths, configuration, say } = place;
  const { store: settings, clusterName } = configuration;
  if (settings.kind !== 'etcd') throw invalidNodeConfiguration('config.json names no etcd');
  const clock = new SystemClock();
  return {
    etcd: await connectEtcd(settings, paths.root, clock),
    prefix: settings.prefix ?? `/drover/${clusterName}`,
    own: entryOf(place),
    clock,
    onWait: say,
    signal: new AbortController().signal,
  };
}

/** Renames a directory, which stays as a copy. Returns the new name. */
async function setAside(directory: string): Promise<string> {
  const name = newNameBeside(directory);
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
    throw invalidNodeConfiguration(`there is no master in ${resolve(root)}: name its directory with --root`);
  return { configuration, paths: await prepareRoot(root) };
}

function describe({ entries, revision }: StoreState): string {
  return `${entries.length} entries at revision ${revision}`;
}
