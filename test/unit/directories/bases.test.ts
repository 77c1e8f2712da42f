/** The bases of a view hold for the directory and the state that they were noted with, and for no others. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Bases } from '../../../controllers/master/directories/bases.js';
import { EPOCH_BASE, raiseEpochs, type StoreLine } from '../../../src/store/epoch-base.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const logger = { warn: () => undefined };
let root: string;
let store: MemoryStore;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'drover-bases-'));
  store = new MemoryStore();
});
afterEach(async () => {
  await store.close();
  await rm(root, { recursive: true });
});

async function open(): Promise<Bases> {
  const bases = new Bases({ path: join(root, 'views/bases.json'), store, logger });
  await bases.open();
  return bases;
}

/** As `drover store restore` does with a backup at `revision`. */
async function restoredAt(revision: number): Promise<void> {
  const [entry] = raiseEpochs({ entries: [], revision }, Date.now()).entries;
  await store.transact([{ do: 'put', key: EPOCH_BASE, value: entry?.value as StoreLine }]);
}

async function holdsAt(revision: number, directory = 'one'): Promise<boolean> {
  const bases = await open();
  const standing = { directory, revision };
  expect(bases.waiting(standing).size).toBe(bases.of(standing).size);
  return bases.of(standing).has('lobby');
}

async function noteAt(revision: number): Promise<void> {
  const bases = await open();
  const notes = [{ name: 'lobby', base: { hash: 'h' } }];
  await bases.note({ directory: 'one', revision }, notes, new Set(['lobby']));
}

it('hold for the same directory and a state that went on', async () => {
  await noteAt(50);
  expect(await holdsAt(50)).toBe(true);
  expect(await holdsAt(51)).toBe(true);
  expect(await holdsAt(51, 'other')).toBe(false);
  expect(await holdsAt(49)).toBe(false);
});

it('do not hold for a state that was restored from before them, however far it has gone on', async () => {
  await noteAt(50);
  await restoredAt(49);
  expect(await holdsAt(1000)).toBe(false);
  await noteAt(60);
  expect(await holdsAt(1000)).toBe(true);
});

it('hold for a restored state that has all that they were noted with', async () => {
  await noteAt(50);
  await restoredAt(50);
  expect(await holdsAt(1000)).toBe(true);
});
