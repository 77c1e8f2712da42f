/** A store file that lost or changed anything is refused, never opened as an older or empty state. */
import { createHash } from 'node:crypto';
import { cp, mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DroverError, messageOf } from '../../../src/model/errors.js';
import { openDatabase } from '../../../src/store/lmdb/lmdb-store.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import type { Entry, Store } from '../../../src/store/store.js';

const PAGE = 4096;
/** The same places in each run; another seed shows others. */
const SEED = Number(process.env.DROVER_PROPERTY_SEED ?? 1);
let base: string;
let sound: string;
let directory: string;
let file: string;
let content: readonly Entry[];

/** Branch pages, values on overflow pages, removed entries and free pages. */
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'drover-corruption-'));
  sound = join(base, 'sound');
  const store = await openStore({ directory: sound });
  for (let round = 0; round < 4; round++) {
    await Promise.all(
      Array.from({ length: 400 }, (_, n) => {
        const key = `instances/${n}`;
        if (n % 5 === 4 && round === 3) return store.transact([{ do: 'remove', key }]);
        return store.transact([
          { do: 'put', key, value: { round, text: 'x'.repeat(n % 40 === 0 ? 9000 : n) } },
        ]);
      }),
    );
  }
  content = (await store.list('')).entries;
  await store.close();
});
afterAll(() => rm(base, { recursive: true }));

beforeEach(async () => {
  directory = await mkdtemp(join(base, 'case-'));
  await cp(sound, directory, { recursive: true });
  file = join(directory, 'store.mdb');
});
afterEach(() => rm(directory, { recursive: true }));

async function openAndList(): Promise<readonly Entry[]> {
  const store = await openStore({ directory });
  try {
    return (await store.list('')).entries;
  } finally {
    await store.close();
  }
}

async function contentHash(): Promise<string> {
  return readFile(file).then(
    (bytes) => createHash('sha256').update(bytes).digest('hex'),
    () => 'no file',
  );
}

/** Opening fails with DRV_STORE_CORRUPT and leaves the file as it was. Resolves with the message. */
async function refusal(): Promise<string> {
  const before = await contentHash();
  const error: unknown = await openAndList().then(
    () => new Error('it was opened'),
    (thrown: unknown) => thrown,
  );
  expect(DroverError.is(error, 'DRV_STORE_CORRUPT') ? '' : messageOf(error)).toBe('');
  expect(await contentHash()).toBe(before);
  return messageOf(error);
}

async function overwrite(at: number, bytes: Buffer): Promise<void> {
  const handle = await open(file, 'r+');
  await handle.write(bytes, 0, bytes.length, at);
  await handle.close();
}

/** After some damage: refused, or nothing that was stored is missing or different, and it can be written to. */
async function expectRefusedOrWhole(): Promise<'refused' | 'whole'> {
  let store: Store;
  try {
    store = await openStore({ directory });
  } catch (error) {
    if (!DroverError.is(error, 'DRV_STORE_CORRUPT')) throw error;
    return 'refused';
  }
  try {
    expect((await store.list('')).entries).toEqual(content);
    await rewrite(store);
  } finally {
    await store.close();
  }
  expect(await openAndList()).toHaveLength(content.length);
  return 'whole';
}

/** Writes that use the free pages, and pages and values that lay there before. */
async function rewrite(store: Store): Promise<void> {
  const some = content.filter((_, index) => index % 3 === 0);
  await Promise.all(
    some.map(({ key }, index) =>
      store.transact([{ do: 'put', key, value: 'y'.repeat(index % 10 === 0 ? 9000 : 300) }]),
    ),
  );
}

it('opens the sound file with everything in it', async () => {
  expect(await openAndList()).toEqual(content);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(`${file}-lock`)).mode & 0o777).toBe(0o600);
});

describe('a damaged file is refused with its name, the fault and the way out', () => {
  it('when it is cut off', async () => {
    await truncate(file, 20 * PAGE);
    const message = await refusal();
    expect(message).toContain(file);
    expect(message).toContain('cut off');
    expect(message).toContain('backup');
  });

  it('when it is cut off inside a page or inside the meta pages', async () => {
    await truncate(file, 3 * PAGE + 17);
    expect(await refusal()).toContain('cut off');
    await truncate(file, PAGE);
    expect(await refusal()).toContain('cut off');
    await truncate(file, 10);
    expect(await refusal()).toContain('cut off');
  });

  it('when it is zeroed', async () => {
    await writeFile(file, Buffer.alloc((await stat(file)).size));
    expect(await refusal()).toContain('not an LMDB meta page');
  });

  it('when one of its two meta pages is zeroed, which would be an older state', async () => {
    await overwrite(PAGE, Buffer.alloc(PAGE));
    expect(await refusal()).toMatch(/page 1/);
  });

  it('when it is empty', async () => {
    await truncate(file, 0);
    expect(await refusal()).toContain('empty');
  });

  it('when it is deleted', async () => {
    await rm(file);
    expect(await refusal()).toContain('missing');
  });

  it('when it is replaced by another kind of file', async () => {
    await writeFile(file, 'not a store\n'.repeat(2000));
    expect(await refusal()).toContain('overwritten');
  });

  it('when a bit of a value is flipped, naming the entry', async () => {
    const bytes = await readFile(file);
    // The newest copy of a page is not known, so every copy of this value is changed.
    for (let at = bytes.indexOf('"round":3'); at >= 0; at = bytes.indexOf('"round":3', at + 1))
      await overwrite(at + 8, Buffer.from('2'));
    expect(await refusal()).toMatch(/checksum of instances\/\d+ is wrong/);
  });

  it('when an entry is gone that was written', async () => {
    const database = openDatabase(file);
    await database.remove('instances/1');
    await database.close();
    expect(await refusal()).toContain(`${content.length - 1} entries, but ${content.length} were written`);
  });

  it('when it is a sound LMDB file without our summary', async () => {
    const database = openDatabase(file);
    await database.remove(0);
    await database.close();
    expect(await refusal()).toContain('summary record is missing');
  });
});

describe('whatever happens to the bytes, the store is refused or whole', () => {
  it('cut at any length', async () => {
    const bytes = await readFile(file);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), async (length) => {
        await writeFile(file, bytes.subarray(0, length));
        if ((await expectRefusedOrWhole()) === 'refused') refused++;
      }),
      { seed: SEED, numRuns: 40 },
    );
    expect(refused).toBeGreaterThan(10);
  });

  it('zeroed over any stretch', async () => {
    const bytes = await readFile(file);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: bytes.length - 1 }), fc.nat({ max: 3 * PAGE }), async (at, length) => {
        await writeFile(file, Buffer.from(bytes).fill(0, at, Math.min(bytes.length, at + length + 1)));
        if ((await expectRefusedOrWhole()) === 'refused') refused++;
      }),
      { seed: SEED, numRuns: 60 },
    );
    expect(refused).toBeGreaterThan(10);
  });

  it('with any bit flipped, in page headers and meta pages most of all', async () => {
    const bytes = await readFile(file);
    const anywhere = fc.nat({ max: bytes.length - 1 });
    const header = fc.tuple(fc.nat({ max: bytes.length / PAGE - 1 }), fc.nat({ max: 63 }));
    const meta = fc.tuple(fc.nat({ max: 1 }), fc.nat({ max: 167 }));
    const place = fc.oneof(
      anywhere,
      fc.oneof(header, meta).map(([page, at]) => page * PAGE + at),
    );
    // A page that says it is of another kind is met by the write that takes the store over, not by a read.
    const pageKinds = Array.from({ length: bytes.length / PAGE }, (_, page): [number, number] => [
      page * PAGE + 8,
      3,
    ]);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(place, fc.nat({ max: 7 }), async (at, bit) => {
        const flipped = Buffer.from(bytes);
        flipped.writeUInt8(flipped.readUInt8(at) ^ (1 << bit), at);
        await writeFile(file, flipped);
        if ((await expectRefusedOrWhole()) === 'refused') refused++;
      }),
      { seed: SEED, numRuns: 150, examples: pageKinds },
    );
    expect(refused).toBeGreaterThan(10);
  });
});
