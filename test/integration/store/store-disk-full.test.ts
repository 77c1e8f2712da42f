/** A full disk: writes fail clearly and wholly, reads go on, and it works again when space returns. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, describe, expect, it, vi } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { SecretDirectory } from '../../../src/node/secret-files.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import type { Store } from '../../../src/store/store.js';

const mountPoint = mkdtempSync(join(tmpdir(), 'drover-full-'));
const isMounted = mountSmallDisk();

function mountSmallDisk(): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', mountPoint], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

afterAll(() => {
  if (isMounted) execFileSync('umount', [mountPoint]);
  rmSync(mountPoint, { recursive: true });
});

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

describe.skipIf(!isMounted)('on a full disk (needs the right to mount a tmpfs)', () => {
  it('fails writes with DRV_STORE_WRITE_FAILED, keeps reading, and works again when space returns', async () => {
    // lmdb prints failed commits itself.
    const console_ = vi.spyOn(console, 'error').mockImplementation(() => {});
    const directory = join(mountPoint, 'data');
    const ballast = join(mountPoint, 'ballast');
    writeFileSync(ballast, Buffer.alloc(1024 * 1024));
    const lines: string[] = [];
    const logger = pino({ level: 'error' }, { write: (line) => lines.push(JSON.parse(line).msg) });
    const store = await openStore({ directory, logger });

    const { acknowledged, failures } = await writeUntilFull(store);
    expect(failures.every((error) => DroverError.is(error, 'DRV_STORE_WRITE_FAILED'))).toBe(true);
    expect(String(failures[0])).toMatch(/could not write to disk .* kB free/);
    const revision = await store.barrier();
    expect(revision).toBe(acknowledged.size);
    expect(await contentOf(store)).toEqual(acknowledged);

    const tooBig = store.transact([{ do: 'put', key: 'instances/big', value: 'x'.repeat(3_000_000) }]);
    await expect(tooBig).rejects.toThrow('could not write to disk');
    expect(await store.get('instances/big')).toBeUndefined();

    // Said once, in words without the numbers of LMDB's buffers, however often it is tried.
    expect(lines).toEqual([
      expect.stringMatching(/\((?:No space left on device|Input\/output error); \d+ kB free\)/),
    ]);

    const secret = new SecretDirectory(join(mountPoint, 'cluster')).file('masters.json');
    await expect(secret.write('x'.repeat(3_000_000))).rejects.toMatchObject({
      message:
        'data/cluster/masters.json cannot be written: no space left on device (ENOSPC); free some space',
    });

    rmSync(ballast);
    expect(await store.transact([{ do: 'create', key: 'instances/after', value: 'y'.repeat(5000) }])).toBe(
      revision + 1,
    );
    acknowledged.set('instances/after', 'y'.repeat(5000));
    await store.close();

    const again = await openStore({ directory });
    expect(await again.barrier()).toBe(revision + 1);
    expect(await contentOf(again)).toEqual(acknowledged);
    await again.close();
    console_.mockRestore();
  });
});
