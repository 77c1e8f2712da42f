/** Runs the store contract for each implementation. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../src/store/lmdb/open.js';
import { MemoryStore } from '../support/store/memory-store.js';
import { describeStore } from './store-contract.js';

describeStore('memory', async ({ historyCapacity }) => {
  const store = new MemoryStore({ historyCapacity });
  return { store, dispose: () => store.close() };
});

describeStore('lmdb', async ({ historyCapacity }) => {
  const directory = await mkdtemp(join(tmpdir(), 'drover-store-'));
  const store = await openStore({ directory, historyCapacity });
  return {
    store,
    dispose: async () => {
      await store.close();
      await rm(directory, { recursive: true });
    },
  };
});
