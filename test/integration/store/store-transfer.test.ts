/** `drover store`: the state of a stopped master goes to etcd and back, and into a backup, whole. Needs etcd-server. */
import { existsSync } from 'node:fs';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { backupStore, migrateStore, repairStores, restoreStore } from '../../../src/daemon/store-transfer.js';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { acquireRootLock } from '../../../src/node/root-lock.js';
import { writeBackup } from '../../../src/store/backup-file.js';
import { EPOCH_BASE, lastInCommon, lineOf } from '../../../src/store/epoch-base.js';
import { EtcdClient } from '../../../src/store/etcd/wire/client.js';
import { fillStore, openStore } from '../../../src/store/lmdb/open.js';
import { removeUnfinishedStores } from '../../../src/store/lmdb/replace.js';
import type { StoreState } from '../../../src/store/store.js';
import { type EtcdCluster, hasEtcd, startEtcd } from '../../support/etcd/etcd-server.js';
import { newPrefix, openTestStore } from '../../support/etcd/etcd-world.js';

let paths: RootPaths;
let directory: string;
let prefix: string;
const say = (): void => undefined;

beforeEach(async () => {
  paths = await prepareRoot(await mkdtemp(join(tmpdir(), 'drover-transfer-')));
  directory = join(paths.store, 'master');
  prefix = newPrefix();
});
afterEach(() => rm(paths.root, { recursive: true }));

async function configure(store: object): Promise<void> {
  await writeFile(paths.configFile, JSON.stringify({ nodeId: 'a', store }));
}

/** Writes 450 entries, one of them long, over several revisions. */
async function fillFile(): Promise<StoreState> {
  const store = await openStore({ directory });
  for (let n = 0; n < 150; n++)
    await store.transact(
      Array.from(
        { length: 3 },
        (_, i) => ({ do: 'put', key: `instances/${n}-${i}`, value: { n, i } }) as const,
      ),
    );
  await store.transact([{ do: 'put', key: 'revisions/long', value: 'long '.repeat(100_000) }]);
  await store.transact([{ do: 'remove', key: 'instances/7-0' }]);
  const state = await store.list('');
  await store.close();
  return state;
}

/** What numbers the terms on etcd is no part of the state that is moved. */
function withoutBase({ entries, revision }: StoreState): StoreState {
  return { entries: entries.filter(({ key }) => key !== EPOCH_BASE), revision };
}

async function readFileStore(): Promise<StoreState> {
  const store = await openStore({ directory });
  const state = await store.list('');
  await store.close();
  return state;
}

describe.skipIf(!hasEtcd)('between a file and etcd', () => {
  let etcd: EtcdCluster;
  beforeAll(async () => {
    etcd = await startEtcd();
  });
  afterAll(() => etcd.stop());
  const onEtcd = () => ({ kind: 'etcd', endpoints: etcd.endpoints, prefix });

  it('goes to etcd with its revisions, and back', async () => {
    const before = await fillFile();
    await configure(onEtcd());
    expect(await migrateStore(paths.root, 'etcd', say)).toContain(
      `450 entries at revision ${before.revision} are on etcd now`,
    );
    expect(existsSync(directory)).toBe(false);
    expect((await readdir(paths.store)).filter((name) => name.startsWith('master.'))).toHaveLength(1);

    const store = await openTestStore(etcd.endpoints, { prefix });
    expect(withoutBase(await store.list(''))).toEqual(before);
    await store.transact([{ do: 'put', key: 'more', value: 1 }]);
    await store.close();

    await migrateStore(paths.root, 'lmdb', say);
    const after = await readFileStore();
    expect(after.revision).toBe(before.revision + 1);
    expect(withoutBase(after).entries.filter(({ key }) => key !== 'more')).toEqual(before.entries);
    expect(JSON.parse(await readFile(paths.configFile, 'utf8'))).toMatchObject({ store: { kind: 'lmdb' } });
  });

  it('overwrites no state', async () => {
    await fillFile();
    await configure(onEtcd());
    const store = await openTestStore(etcd.endpoints, { prefix });
    await store.transact([{ do: 'put', key: 'theirs', value: 1 }]);
    await store.close();
    await expect(migrateStore(paths.root, 'etcd', say)).rejects.toMatchObject({
      code: 'DRV_STORE_CONFLICT',
      message: expect.stringContaining('holds a state'),
    });
    await expect(migrateStore(paths.root, 'lmdb', say)).rejects.toMatchObject({
      code: 'DRV_STORE_CONFLICT',
      message: `${directory} holds a store already; move that directory away first`,
    });
    expect((await readFileStore()).entries).toHaveLength(450);
    expect(await openTestStore(etcd.endpoints, { prefix }).then((one) => one.close().then(() => 1))).toBe(1);
  });

  it('calls an interrupted move that, and says what to remove', async () => {
    await fillFile();
    await configure(onEtcd());
    const client = new EtcdClient({ endpoints: etcd.endpoints, clock: new SystemClock() });
    await migrateStore(paths.root, 'etcd', say);
    const { entries } = await client.range({ key: `${prefix}/filling` });
    expect(entries).toEqual([]);
    const changes = [{ do: 'put', key: `${prefix}/filling`, value: Buffer.alloc(0) }] as const;
    await client.transact({ comparisons: [], changes, otherwiseRead: [] });
    client.close();
    await expect(openTestStore(etcd.endpoints, { prefix })).rejects.toMatchObject({
      code: 'DRV_STORE_CORRUPT',
      message: expect.stringMatching(/^a move or a restore .* was interrupted.*etcdctl del --prefix /),
    });
  });

  it('is restored on etcd from a backup of a file', async () => {
    const before = await fillFile();
    await configure({ kind: 'lmdb' });
    const backup = join(paths.root, 'backup');
    await backupStore(paths.root, backup, say);
    await configure(onEtcd());
    await restoreStore(paths.root, backup, say);
    const store = await openTestStore(etcd.endpoints, { prefix });
    expect(withoutBase(await store.list(''))).toEqual(before);
    expect(lineOf((await store.get(EPOCH_BASE))?.value).base).toBeGreaterThan(1_000_000_000_000_000);
    await store.close();
    await expect(restoreStore(paths.root, backup, say)).rejects.toMatchObject({ code: 'DRV_STORE_CONFLICT' });
  });
});

it('comes back from a backup, and keeps what it replaces', async () => {
  const before = await fillFile();
  await configure({ kind: 'lmdb' });
  const backup = join(paths.root, 'backup');
  expect(await backupStore(paths.root, backup, say)).toContain('450 entries');
  expect((await stat(backup)).mode & 0o777).toBe(0o600);
  const store = await openStore({ directory });
  await store.transact([{ do: 'put', key: 'later', value: 1 }]);
  await store.close();
  expect(await restoreStore(paths.root, backup, say)).toContain('the one before is kept in');
  const restored = await readFileStore();
  expect(withoutBase(restored)).toEqual(before);
  // What nodes have seen beyond the backup is not of this state, however far it goes on.
  const line = lineOf(restored.entries.find(({ key }) => key === EPOCH_BASE)?.value);
  expect(lastInCommon(line, 0)).toBe(before.revision);
});

it('leaves nothing of a restore that was cut off once the node has started', async () => {
  await configure({ kind: 'lmdb' });
  const state = await fillFile();
  await fillStore(`${directory}.new`, state);
  await removeUnfinishedStores(paths.store);
  expect(await readdir(paths.store)).toEqual(['master']);
  await removeUnfinishedStores(paths.store);
});

it('says what to remove when an earlier fill of the directory was cut short', async () => {
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'store.mdb'), '');
  await expect(fillStore(directory, { entries: [], revision: 0 })).rejects.toMatchObject({
    code: 'DRV_STORE_CONFLICT',
    message: `${directory} holds a store that was not finished; remove that directory first`,
  });
});

it('is not restored from a file that is not whole, nor under a running master', async () => {
  await fillFile();
  await configure({ kind: 'lmdb' });
  const backup = join(paths.root, 'backup');
  await backupStore(paths.root, backup, say);
  await appendFile(backup, '00000000 {"key":"more","revision":1,"value":1}\n');
  await expect(restoreStore(paths.root, backup, say)).rejects.toThrow(
    'the checksum of line 452 is wrong (more)',
  );
  const lock = await acquireRootLock(paths);
  await expect(backupStore(paths.root, backup, say)).rejects.toMatchObject({ code: 'DRV_NODE_ROOT_LOCKED' });
  await lock.release();
  expect((await readFileStore()).entries).toHaveLength(450);
});

it('is judged by the schemas of its records: told, and refused where no checksum shows that it is whole', async () => {
  await configure({ kind: 'lmdb' });
  const backup = join(paths.root, 'backup');
  const entry = { key: 'keys/admin', revision: 1, value: { hash: 'no hash' } };
  await writeBackup(backup, { revision: 1, entries: [entry] });
  const said: string[] = [];
  await restoreStore(paths.root, backup, (line) => said.push(line));
  expect(said).toEqual([
    expect.stringMatching(
      /^warning: the record keys\/admin cannot be read \(.+\): the master will set it aside$/,
    ),
  ]);
  const head = { drover: 'store backup', format: 1, revision: 1, entries: 1 };
  await writeFile(backup, `${JSON.stringify(head)}\n${JSON.stringify(entry)}\n`);
  await expect(restoreStore(paths.root, backup, (line) => said.push(line))).rejects.toMatchObject({
    code: 'DRV_STORE_CORRUPT',
    message: expect.stringContaining(`${backup}: the record keys/admin cannot be read (`),
  });
  expect(said.at(-1)).toContain('has format 1, without checksums');
});

it('is repaired: one broken record is set aside, everything else stays, and the damaged file is kept', async () => {
  const before = await fillFile();
  await configure({ kind: 'lmdb' });
  expect(await repairStores(paths.root)).toBe(`the store ${directory} is whole: nothing was changed`);
  const file = join(directory, 'store.mdb');
  const damaged = Buffer.from(await readFile(file));
  const value = '{"n":77,"i":1}';
  for (let at = damaged.indexOf(value); at >= 0; at = damaged.indexOf(value, at + 1))
    damaged.write('8', at + 5);
  await writeFile(file, damaged);
  await expect(openStore({ directory })).rejects.toThrow(
    'Set what is broken aside with "drover store repair"',
  );
  const report = await repairStores(paths.root);
  expect(report).toContain('the checksum of instances/77-1 is wrong');
  expect(report).toContain('449 entries at revision');
  const kept = / is kept in (.+)$/m.exec(report)?.[1] ?? '';
  expect((await readFile(join(kept, 'store.mdb'))).equals(damaged)).toBe(true);
  expect(withoutBase(await readFileStore())).toEqual({
    revision: before.revision,
    entries: before.entries.filter(({ key }) => key !== 'instances/77-1'),
  });
});

it('is left as it was when nothing of it can be read', async () => {
  await fillFile();
  await configure({ kind: 'lmdb' });
  await truncate(join(directory, 'store.mdb'), 100);
  await expect(repairStores(paths.root)).rejects.toMatchObject({
    code: 'DRV_STORE_CORRUPT',
    message: expect.stringContaining(`nothing in ${directory} can be read (it is cut off`),
  });
  expect((await stat(join(directory, 'store.mdb'))).size).toBe(100);
});
