/**
 * A disk that is full or read-only: writes fail clearly and wholly, reads go on, and it works again when the disk does.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { SecretDirectory } from '../../../src/node/secret-files.js';
import { fillStore, openStore, wasStoreMade } from '../../../src/store/lmdb/open.js';
import type { Store } from '../../../src/store/store.js';
import { SmallDisk } from '../../support/templates/small-disk.js';

/** Starts many writes at once, again and again, until some fail. Returns what was acknowledged and the failures. */
async function writeUntilFull(
  store: Store,
): Promise<{ acknowledged: Map<string, string>; failures: unknown[] }> {
  const acknowledged = new Map<string, string>();
  const failures: unknown[] = [];
  for (let round = 0; failures.length === 0; round++) {
    const writes = Array.from({ length: 20 }, async (_, n) => {
      const key = `instances/${round}-${n}`;
      const value = `${n}`.repeat(5000);
      await store.transact([{ do: 'create', key, value }]);
      acknowledged.set(key, value);
    });
    for (const outcome of await Promise.allSettled(writes))
      if (outcome.status === 'rejected') failures.push(outcome.reason);
  }
  return { acknowledged, failures };
}

async function contentOf(store: Store): Promise<Map<string, unknown>> {
  return new Map((await store.list('instances/')).entries.map(({ key, value }) => [key, value]));
}

describe.skipIf(!SmallDisk.isPossible)('on a small disk (needs the right to mount a tmpfs)', () => {
  let disk: SmallDisk;
  let store: Store;
  let acknowledged: Map<string, string>;
  let failures: unknown[];
  let said: { msg: string }[];

  beforeEach(async () => {
    // The package `lmdb` prints a write that it tried and the system refused, and damages its memory.
    vi.spyOn(console, 'error').mockImplementation(() => {});
    said = [];
    const logger = pino({ level: 'info' }, { write: (line) => said.push(JSON.parse(line)) });
    disk = new SmallDisk('3m');
    disk.fill(2 * 1024 * 1024);
    store = await openStore({ directory: join(disk.path, 'data'), logger });
    ({ acknowledged, failures } = await writeUntilFull(store));
  });

  afterEach(async () => {
    await store.close();
    disk.close();
    vi.restoreAllMocks();
  });

  /** Writes, and reads everything after the next start. */
  async function expectWhole(): Promise<void> {
    const revision = await store.barrier();
    expect(revision).toBe(acknowledged.size);
    const text = 'y'.repeat(5000);
    expect(await store.transact([{ do: 'create', key: 'instances/after', value: text }])).toBe(revision + 1);
    acknowledged.set('instances/after', text);
    await store.close();
    store = await openStore({ directory: join(disk.path, 'data') });
    expect(await store.barrier()).toBe(revision + 1);
    expect(await contentOf(store)).toEqual(acknowledged);
    expect(vi.mocked(console.error), 'LMDB met a refusal').not.toHaveBeenCalled();
  }

  it('refuses a state for a new store that does not fit', async () => {
    const directory = join(disk.path, 'restored');
    const entries = Array.from({ length: 50 }, (_, n) => ({
      key: `instances/${n}`,
      value: 'z'.repeat(5000),
      revision: n,
    }));
    await expect(fillStore(directory, { entries, revision: 50 })).rejects.toThrow('ENOSPC');
    expect(wasStoreMade(directory)).toBe(false);
    disk.free();
    rmSync(directory, { recursive: true });
    await fillStore(directory, { entries, revision: 50 });
    await expectWhole();
  });

  it('fails writes with DRV_STORE_WRITE_FAILED, keeps reading, and works again when space returns', async () => {
    expect(failures.every((error) => DroverError.is(error, 'DRV_STORE_WRITE_FAILED'))).toBe(true);
    expect(String(failures[0])).toMatch(
      /could not write to disk \(no space left on device \(ENOSPC\); \d+ kB free\)/,
    );
    expect(await contentOf(store)).toEqual(acknowledged);

    const tooBig = store.transact([{ do: 'put', key: 'instances/big', value: 'x'.repeat(3_000_000) }]);
    await expect(tooBig).rejects.toThrow('could not write to disk');
    expect(await store.get('instances/big')).toBeUndefined();

    const secret = new SecretDirectory(join(disk.path, 'cluster')).file('masters.json');
    await expect(secret.write('x'.repeat(3_000_000))).rejects.toMatchObject({
      message:
        'data/cluster/masters.json cannot be written: no space left on device (ENOSPC); free some space',
    });

    disk.free();
    await expectWhole();
  });

  it('says that the disk is read-only, tries without LMDB, and works again when it is writable', async () => {
    disk.free();
    // The failed write has closed the file, so nothing hinders the remount.
    disk.remount('ro');
    for (let tries = 0; tries < 100; tries++)
      await expect(store.transact([{ do: 'put', key: 'instances/no', value: tries }])).rejects.toThrow(
        'the store could not write to disk (read-only file system (EROFS)) and nothing was changed; mount the disk writable',
      );
    expect(await contentOf(store)).toEqual(acknowledged);
    disk.remount('rw');
    await expectWhole();
    expect(said.slice(1).map(({ msg }) => msg)).toEqual([
      expect.stringContaining('no space left on device'),
      'the store can write to disk again',
    ]);
  });
});
