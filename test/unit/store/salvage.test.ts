/** Whatever bit of a store file is flipped: what can be read is as it was written, and the losses are told. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { messageOf } from '../../../src/model/errors.js';
import { findDamage } from '../../../src/store/lmdb/lmdb-file.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import { salvage } from '../../../src/store/lmdb/salvage.js';
import type { Entry } from '../../../src/store/store.js';

const PAGE = 4096;
let base: string;
let file: string;
let sound: Buffer;
let content: ReadonlyMap<string, Entry>;
let revision: number;

/** Branch pages, values on pages of their own, and free pages with former and removed records. */
beforeAll(async () => {
  base = mkdtempSync(join(tmpdir(), 'drover-salvage-'));
  const store = await openStore({ directory: base });
  for (let round = 0; round < 6; round++) {
    await Promise.all(
      Array.from({ length: 300 }, (_, n) => {
        const key = `${['instances', 'history', 'keys'][n % 3]}/${n}`;
        if (n % 5 === 4 && round === 5) return store.transact([{ do: 'remove', key }]);
        return store.transact([
          { do: 'put', key, value: { round, text: 'x'.repeat(n % 40 === 0 ? 9000 : n) } },
        ]);
      }),
    );
  }
  const state = await store.list('');
  content = new Map(state.entries.map((entry) => [entry.key, entry]));
  revision = state.revision;
  await store.close();
  sound = readFileSync(join(base, 'store.mdb'));
  file = join(base, 'changed.mdb');
});
afterAll(() => rmSync(base, { recursive: true }));

function salvageAfter(change: (bytes: Buffer) => void): ReturnType<typeof salvage> {
  const changed = Buffer.from(sound);
  change(changed);
  writeFileSync(file, changed);
  return salvage(file);
}

const missingOf = ({ entries }: { readonly entries: readonly Entry[] }): number =>
  content.size - entries.filter(({ key }) => content.has(key)).length;

it('reads everything of a sound file', () => {
  const found = salvageAfter(() => undefined);
  expect(found.losses).toEqual([]);
  expect(found.revision).toBe(revision);
  expect(new Map(found.entries.map((entry) => [entry.key, entry]))).toEqual(content);
});

it('loses a single record to a broken value, and names it', () => {
  const found = salvageAfter((bytes) => {
    // The newest copy of a page is not known, so every copy of this value is changed.
    const value = '"text":"x"';
    for (let at = bytes.indexOf(value); at >= 0; at = bytes.indexOf(value, at + 1)) bytes.write('y', at + 8);
  });
  expect(found.losses).toEqual([
    'the checksum of history/1 is wrong',
    `1 of ${content.size} records cannot be read`,
  ]);
  const kept = new Set(found.entries.map(({ key }) => key));
  expect([...content.keys()].filter((key) => !kept.has(key))).toEqual(['history/1']);
});

it('brings back nothing that was not there, after any flipped bit', () => {
  const anywhere = fc.nat({ max: sound.length - 1 });
  const header = fc.tuple(fc.nat({ max: sound.length / PAGE - 1 }), fc.nat({ max: 63 }));
  const place = fc.oneof(
    anywhere,
    header.map(([page, at]) => page * PAGE + at),
  );
  let damaged = 0;
  fc.assert(
    fc.property(place, fc.nat({ max: 7 }), (at, bit) => {
      const found = salvageAfter((bytes) => bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << bit), at));
      if (findDamage(file) !== undefined) damaged++;
      // The state before the last write may be all that is left when a meta page is broken.
      if (found.revision === revision)
        expect(
          found.entries.filter((entry) => !isDeepStrictEqual(content.get(entry.key), entry)),
        ).toHaveLength(0);
      // At most the records of a page are lost.
      expect(missingOf(found)).toBeLessThan(80);
      if (missingOf(found) > 0) expect(found.losses).not.toEqual([]);
      for (const line of found.losses) expect(line).not.toMatch(/[\x00-\x08\x0a-\x1f]/);
    }),
    { numRuns: 120 },
  );
  expect(damaged).toBeGreaterThan(10);
});

it('finds the leaves of a root that is zeroed, and the state of either meta page', () => {
  const latest = sound.readBigUInt64LE(152) > sound.readBigUInt64LE(PAGE + 152) ? 0 : PAGE;
  const root = Number(sound.readBigUInt64LE(latest + 136));
  const withoutRoot = salvageAfter((bytes) => bytes.fill(0, root * PAGE, (root + 1) * PAGE));
  expect(missingOf(withoutRoot)).toBe(0);
  expect(withoutRoot.losses.join()).toContain(`page ${root} is overwritten`);
  const other = salvageAfter((bytes) => bytes.fill(0, latest, latest + PAGE));
  expect(other.losses.join()).toMatch(/meta page|overwritten/);
  expect(other.revision).toBeGreaterThanOrEqual(revision - 300);
});

it('says what is wrong when nothing can be read', () => {
  writeFileSync(file, Buffer.alloc(8 * PAGE));
  let message = '';
  try {
    salvage(file);
  } catch (error) {
    message = messageOf(error);
  }
  expect(message).toContain('page 0 is not an LMDB meta page');
});
