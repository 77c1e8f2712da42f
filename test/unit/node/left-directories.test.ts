/** Which directories count as left, and what the node's own store keeps of them. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LeftDirectories } from '../../../src/node/left-directories.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';
import { quietLogger } from '../../support/templates/template-trees.js';

const NOTE = { configurationName: 'redis', leftAt: 1000, port: 4000 };

let store: MemoryStore;
let disk: WriteBehind;
let present: string[];
let held: Set<string> | undefined;
let walks: number;

beforeEach(() => {
  store = new MemoryStore();
  disk = new WriteBehind({ store, clock: new FakeClock(), logger: quietLogger });
  present = [];
  held = new Set();
  walks = 0;
});
afterEach(() => store.close());

async function open(): Promise<LeftDirectories> {
  const directories = {
    directories: async () => present,
    directorySizes: async (ids: readonly string[]) => {
      walks++;
      return new Map(ids.filter((id) => id !== 'large1').map((id) => [id, 7]));
    },
  };
  const left = new LeftDirectories(disk, directories, (id) => held?.has(id));
  await left.load();
  return left;
}

const storedKeys = async (): Promise<string[]> => {
  await disk.flush();
  return (await store.list('left/')).entries.map(({ key }) => key);
};

it('lists what nothing holds, the last one first, with what was noted and its size', async () => {
  present = ['held01', 'old001', 'first1', 'large1'];
  held = new Set(['held01']);
  const left = await open();
  left.note('first1', NOTE);
  left.note('large1', { ...NOTE, leftAt: 2000, port: null });
  const first = { id: 'first1', ...NOTE, sizeBytes: 7 };
  expect(await left.list()).toEqual([
    { id: 'large1', ...NOTE, leftAt: 2000, port: null, sizeBytes: null },
    first,
    { id: 'old001', configurationName: null, leftAt: null, port: null, sizeBytes: 7 },
  ]);
  expect(await left.list('first1')).toEqual([{ ...first, sizeBytes: null }]);
  expect(await left.list('held01')).toEqual([]);
});

it('keeps notes over a restart, until the directory is in use again or gone', async () => {
  present = ['first1', 'second'];
  const before = await open();
  before.note('first1', NOTE);
  before.note('second', NOTE);
  await disk.flush();
  const left = await open();
  expect(await left.list('first1')).toMatchObject([NOTE]);
  left.end('first1');
  expect(await left.list('first1')).toMatchObject([{ configurationName: null }]);
  expect(await storedKeys()).toEqual(['left/second']);
  present = [];
  expect(await left.list()).toEqual([]);
  expect(await storedKeys()).toEqual([]);
});

it('walks over the disk once for all who ask at the same time', async () => {
  const left = await open();
  await Promise.all([left.list(), left.list(), left.list()]);
  expect(walks).toBe(1);
  await left.list();
  expect(walks).toBe(2);
});

it('answers nothing before the master has said what the node should hold', async () => {
  present = ['first1'];
  held = undefined;
  await expect((await open()).list()).rejects.toMatchObject({ code: 'DRV_NOT_READY' });
});
