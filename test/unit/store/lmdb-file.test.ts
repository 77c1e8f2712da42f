/**
 * A file with one place changed that LMDB takes for granted is refused by plain reads. LMDB itself would end the
 * process, at the start or at a later write. A file as LMDB wrote it is never refused.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findDamage } from '../../../src/store/lmdb/lmdb-file.js';
import { type Meta, readMeta, readNodes, type TreeNode } from '../../../src/store/lmdb/lmdb-pages.js';
import { openDatabase } from '../../../src/store/lmdb/lmdb-store.js';
import { Random } from '../../simulation/random.js';

const ROUNDS = 60;
let directory: string;
let sound: Buffer;
let meta: Meta;
const refusals: string[] = [];

/** Writes and removes so that both trees have branches, and some lists of free pages have pages of their own. */
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-lmdb-file-'));
  const file = join(directory, 'churned.mdb');
  const random = new Random('churn');
  let database = openDatabase(file);
  for (let round = 0; round < ROUNDS; round++) {
    const isRemoving = round % 8 === 7;
    database.transactionSync(() => {
      for (let change = 0; change < (round % 4 === 3 ? 400 : 20); change++) {
        const key = `instances/${random.below(1500)}`;
        if (isRemoving) void database.remove(key);
        else void database.put(key, Buffer.alloc(random.below(change % 10 === 0 ? 20_000 : 700)));
      }
    });
    refusals.push(findDamage(file) ?? '');
    if (round % 10 !== 9) continue;
    await database.close();
    database = openDatabase(file);
  }
  await database.put('last', Buffer.alloc(5000, 'many pages'));
  await database.close();
  sound = readFileSync(file);
  const pageSize = readMeta(sound, 0).pageSize;
  const [first, second] = [readMeta(sound, 0), readMeta(sound.subarray(pageSize), 1)];
  meta = first.transaction > second.transaction ? first : second;
});
afterAll(() => rmSync(directory, { recursive: true }));

function bytesOf(page: number, from = sound): Buffer {
  return from.subarray(page * meta.pageSize, (page + 1) * meta.pageSize);
}

/** The way from the root to the first leaf, and its entries. */
function firstLeaf(tree: 'free' | 'main'): { pages: number[]; nodes: TreeNode[] } {
  const pages = [meta[tree].root ?? 0];
  for (;;) {
    const page = pages.at(-1) ?? 0;
    const nodes = readNodes(bytesOf(page), page, pages.length < meta[tree].depth ? 'branch' : 'leaf');
    if (nodes[0]?.child === undefined) return { pages, nodes };
    pages.push(nodes[0].child);
  }
}

/** Where the value of an entry begins in the file. */
function placeOf({ value, onPages }: TreeNode): number {
  return onPages === undefined
    ? (value ?? sound).byteOffset - sound.byteOffset
    : onPages.page * meta.pageSize + 24;
}

/** What the check says of the file after a change. */
function damageAfter(change: (bytes: Buffer) => void): string | undefined {
  const changed = Buffer.from(sound);
  change(changed);
  expect(changed.equals(sound)).toBe(false);
  const file = join(directory, 'changed.mdb');
  writeFileSync(file, changed);
  return findDamage(file);
}

it('finds nothing wrong with a file after any write', () => {
  expect(meta.main.depth).toBeGreaterThan(1);
  expect(refusals).toEqual(Array(ROUNDS).fill(''));
});

it('refuses a page, of a tree or of a value, that is newer than the file', () => {
  const value = (sound.indexOf('many pages') - 24) / meta.pageSize;
  for (const page of [...firstLeaf('main').pages, ...firstLeaf('free').pages, value])
    expect(
      damageAfter((bytes) => {
        bytesOf(page, bytes).writeUInt8(1, 13);
      }),
    ).toBe(`page ${page} is newer than the file`);
});

it('refuses bounds, positions and sizes of entries that are not those of the page', () => {
  const page = firstLeaf('main').pages.at(-1) ?? 0;
  const after = (at: number, by: number): string | undefined =>
    damageAfter((bytes) => {
      const changed = bytesOf(page, bytes);
      changed.writeUInt16LE(changed.readUInt16LE(at) + by, at);
    });
  expect(after(20, 1)).toContain('bounds');
  expect(after(20, -2)).toContain('do not fill it');
  expect(after(22, -2)).toContain('do not fill it');
  expect(after(24, 1)).toContain('lies outside of it');
  const start = 24 + bytesOf(page).readUInt16LE(24);
  expect(after(start, 2)).toMatch(/not whole|do not fill it/);
  expect(after(start + 4, 2)).toContain('not whole');
  expect(after(start + 6, 3000)).toContain('not whole');
});

it('refuses a tree that is deeper or less deep than it says, and a branch of one page', () => {
  const [root = 0, below = 0] = firstLeaf('main').pages;
  const metaPage = (meta.transaction % 2) * meta.pageSize;
  expect(damageAfter((bytes) => bytes.writeUInt16LE(meta.main.depth - 1, metaPage + 102))).toContain(
    'is not the leaf',
  );
  expect(damageAfter((bytes) => bytes.writeUInt16LE(meta.main.depth + 1, metaPage + 102))).toContain(
    'is not the branch',
  );
  expect(damageAfter((bytes) => bytesOf(root, bytes).writeUInt16LE(2, 20))).toContain('bounds');
  expect(damageAfter((bytes) => bytesOf(below, bytes).fill(0))).toBe(`page ${below} is overwritten`);
});

it('refuses a list of free pages that LMDB could not use', () => {
  const { nodes } = firstLeaf('free');
  const list = nodes[0];
  if (list === undefined) throw new Error('no page is free');
  const at = placeOf(list);
  const inUse = firstLeaf('main').pages[0] ?? 0;
  const withWord = (word: number, value: bigint): string | undefined =>
    damageAfter((bytes) => bytes.writeBigInt64LE(value, at + 8 * word));
  expect(withWord(0, 1n << 40n)).toContain('is not whole');
  const count = Number(sound.readBigUInt64LE(at));
  expect(withWord(count, -2n)).toContain('is not whole');
  expect(withWord(count, BigInt(inUse))).toBe(`page ${inUse} is used twice`);
  expect(withWord(count, 1n)).toBe('it refers to page 1, which does not exist');
  expect(withWord(count, BigInt(meta.lastPage + 1))).toContain('does not exist');
  const other = nodes.slice(1).map((node) => sound.readBigInt64LE(placeOf(node) + 8));
  expect(withWord(count, other.find((word) => word > 0n) ?? 0n)).toContain('is used twice');
});

it('refuses lists of free pages that are out of order, or newer than the file', () => {
  const key = firstLeaf('free').nodes[1]?.key ?? sound;
  const at = key.byteOffset - sound.byteOffset;
  for (const transaction of [0n, 1n, BigInt(meta.transaction + 1)])
    expect(damageAfter((bytes) => bytes.writeBigUInt64LE(transaction, at))).toContain('out of order');
});
