/** `drover store`: the state of a stopped master goes to etcd and back, and into a backup, whole. Needs etcd-server. */
import { existsSync } from 'node:fs';
import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { backupStore, migrateStore, restoreStore } from '../../../src/daemon/store-transfer.js';
import { prepareRoot, type RootPaths } from '../../../src/node/root.js';
import { acquireRootLock } from '../../../src/node/root-lock.js';
import { EPOCH_BASE, lastInCommon, lineOf } from '../../../src/store/epoch-base.js';
import { fillStore, openStore } from '../../../src/store/lmdb/open.js';
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
  await appendFile(backup, '{"key":"more","revision":1,"value":1}\n');
  await expect(restoreStore(paths.root, backup, say)).rejects.toThrow('it holds 451 entries, but says 450');
  const lock = await acquireRootLock(paths);
  await expect(backupStore(paths.root, backup, say)).rejects.toMatchObject({ code: 'DRV_NODE_ROOT_LOCKED' });
  await lock.release();
  expect((await readFileStore()).entries).toHaveLength(450);
});
