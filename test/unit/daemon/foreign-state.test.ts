/** A state on etcd that does not belong to the root that opens it is refused, with what to do. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { refuseForeign } from '../../../src/daemon/open-on-etcd.js';
import { MemoryStore } from '../../support/store/memory-store.js';

let root: string;
let paths: { readonly store: string; readonly cluster: string };
let state: MemoryStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'drover-foreign-'));
  paths = { store: join(root, 'store'), cluster: join(root, 'cluster') };
  await mkdir(join(paths.store, 'master'), { recursive: true });
  await mkdir(paths.cluster);
  state = new MemoryStore();
});
afterEach(async () => {
  await state.close();
  await rm(root, { recursive: true });
});

const look = () => refuseForeign(state, paths, '/drover/x');
const put = (key: string) => state.transact([{ do: 'put', key, value: {} }]);

it('is taken when it is new, and the root is', () => expect(look()).resolves.toBeUndefined());

it('is refused when it is empty beside a state in a file', async () => {
  await writeFile(join(paths.store, 'master/store-created'), '');
  await expect(look()).rejects.toMatchObject({
    code: 'DRV_NODE_CONFIG_INVALID',
    message: expect.stringContaining('drover store migrate --to etcd'),
  });
  await put('nodes/a');
  await expect(look()).resolves.toBeUndefined();
});

it('is refused when its nodes trust an authority that the root does not have', async () => {
  await put('members/n');
  await expect(look()).rejects.toThrow(/copy data\/cluster\//);
  await writeFile(join(paths.cluster, 'authority.pem'), '');
  await expect(look()).resolves.toBeUndefined();
});

it('is taken without the file of the authority when the authority is sealed in it', async () => {
  await put('members/n');
  await put('secrets/authority');
  await expect(look()).resolves.toBeUndefined();
});
