/**
 * Checks an LMDB data file with plain reads before LMDB maps it into memory. Without the check, a truncated
 * or overwritten file would end the process by a signal, at the start or at a later write. The check follows
 * both trees page by page, and the lists of free pages. It does not judge the values.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import {
  checkHeader,
  checkOverflow,
  Damage,
  HEADER_BYTES,
  META_BYTES,
  type Meta,
  type OnPages,
  readMeta,
  readNodes,
  type TreeNode,
} from './lmdb-pages.js';

const MAX_MISSING_PAGES = 1024;
/** The size in bytes of a page number, of a transaction number, and of each word in a list of free pages. */
const WORD = 8;

/**
 * Describes the damage of an LMDB file, for a person; undefined: it is safe to open. Throws when the file cannot be
 * read.
 */
export function findDamage(file: string): string | undefined {
  const fd = openSync(file, 'r');
  try {
    const pages = new Pages(fd, latestOf(fd));
    const { main } = pages.meta;
    if (main.root !== undefined) walk(pages, main.root, main.depth, (node) => checkValue(pages, node));
    claimFreePages(pages);
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** Reads meta page 0 or 1. Throws Damage. */
export function readMetaOf(fd: number, page: 0 | 1, pageSize: number): Meta {
  return readMeta(readBytes(fd, page * pageSize, META_BYTES), page);
}

/** The newer meta page. Throws Damage unless both are as LMDB leaves them. */
function latestOf(fd: number): Meta {
  const first = readMetaOf(fd, 0, 0);
  const second = readMetaOf(fd, 1, first.pageSize);
  const latest = first.transaction > second.transaction ? first : second;
  const apart = Math.abs(first.transaction - second.transaction);
  // Transaction n writes meta page n % 2; the other page keeps n - 1. Before the first transaction both hold 0.
  const inPlace = second.transaction % 2 === 1 && first.transaction % 2 === 0 && apart === 1;
  if (!inPlace && latest.transaction !== 0)
    throw new Damage(`its meta pages do not follow each other (${first.transaction}, ${second.transaction})`);
  if (first.kind !== second.kind) throw new Damage('its meta pages contradict each other');
  return latest;
}

function readBytes(fd: number, offset: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  if (readSync(fd, bytes, 0, length, offset) !== length)
    throw new Damage(`it is cut off after ${fstatSync(fd).size} bytes`);
  return bytes;
}

/**
 * The pages of a file as a meta page describes them. Each page has a single use: in a tree, as part of a value, or
 * free.
 */
export class Pages {
  readonly meta: Meta;
  readonly #fd: number;
  readonly #bytes: number;
  /** For each page: 1 when its use is known. */
  readonly #used: Uint8Array;

  constructor(fd: number, meta: Meta) {
    this.meta = meta;
    this.#fd = fd;
    this.#bytes = fstatSync(fd).size;
    // Free pages at the end may never have been written, so the file may be a little shorter than it says.
    const present = this.#bytes / meta.pageSize;
    if (meta.lastPage > 2 * present + MAX_MISSING_PAGES)
      throw new Damage(`it says to have ${meta.lastPage} pages, but has ${present}`);
    this.#used = new Uint8Array(meta.lastPage + 1);
  }

  /** The pages whose use is not known yet. */
  *unclaimed(): Generator<number> {
    for (let page = 2; page < this.#used.length; page++) if (this.#used[page] === 0) yield page;
  }

  /** Notes the use of `count` pages from `page` on. A second use of a page is damage. */
  claim(page: number, count: number): void {
    if (page < 2 || count < 1 || page + count - 1 > this.meta.lastPage)
      throw new Damage(`it refers to page ${page}, which does not exist`);
    for (let each = page; each < page + count; each++) {
      if (this.#used[each] === 1) throw new Damage(`page ${each} is used twice`);
      this.#used[each] = 1;
    }
  }

  /** Claims the pages, which must have been written, and reads their first `bytes`. */
  claimWritten(page: number, count: number, bytes: number): Buffer {
    this.claim(page, count);
    const end = page + count;
    if (end * this.meta.pageSize > this.#bytes)
      throw new Damage(`it is cut off: ${this.#bytes} bytes, but page ${end - 1} is in use`);
    return this.read(page, bytes);
  }

  /** Reads `bytes` from the start of a page on, whatever its use. */
  read(page: number, bytes: number): Buffer {
    if (bytes > this.#bytes) throw new Damage(`page ${page} is said to begin ${bytes} bytes`);
    return readBytes(this.#fd, page * this.meta.pageSize, bytes);
  }
}

/**
 * Visits the entries of the pages below `page` in their order. An entry of a branch comes before the entries below it.
 */
function walk(
  pages: Pages,
  page: number,
  depth: number,
  visit: (node: TreeNode, index: number) => void,
): void {
  const bytes = pages.claimWritten(page, 1, pages.meta.pageSize);
  checkHeader(bytes, page, pages.meta);
  readNodes(bytes, page, depth > 1 ? 'branch' : 'leaf').forEach((node, index) => {
    visit(node, index);
    if (node.child !== undefined) walk(pages, node.child, depth - 1, visit);
  });
}

function checkValue(pages: Pages, { onPages }: TreeNode): void {
  if (onPages !== undefined) readOnPages(pages, onPages, HEADER_BYTES);
}

/** The first `bytes` of a value that lies on pages outside of its tree. */
function readOnPages(pages: Pages, value: OnPages, bytes: number): Buffer {
  const read = pages.claimWritten(value.page, value.count, bytes);
  checkOverflow(read, value, pages.meta);
  return read;
}

/** Claims the pages that a transaction may use. Throws Damage when their lists are not whole. */
export function claimFreePages(pages: Pages): void {
  const { free } = pages.meta;
  if (free.root !== undefined) walk(pages, free.root, free.depth, freeListCheck(pages));
}

/**
 * Makes the check for the entries of the tree of free pages. LMDB gives these pages to later writes. When a page is in
 * use or does not exist, that write ends the process.
 */
function freeListCheck(pages: Pages): (node: TreeNode, index: number) => void {
  let last = 0;
  return (node, index) => {
    // A branch gives no key for its first child: that child holds all keys before the second entry.
    if (node.child !== undefined && index === 0) return;
    const transaction = node.key.length === WORD ? Number(node.key.readBigUInt64LE(0)) : 0;
    if (transaction <= last || transaction > pages.meta.transaction)
      throw new Damage('the lists of its free pages are out of order');
    // The key of a branch's entry may equal the first key below it, so allow the same number once more.
    last = node.child === undefined ? transaction : transaction - 1;
    if (node.child === undefined) claimFree(pages, listOf(pages, node));
  };
}

function listOf(pages: Pages, { value, onPages }: TreeNode): Buffer {
  if (onPages === undefined) return value ?? Buffer.alloc(0);
  const most = Math.min(HEADER_BYTES + onPages.bytes, onPages.count * pages.meta.pageSize);
  return readOnPages(pages, onPages, most).subarray(HEADER_BYTES);
}

/**
 * Claims the pages of a list. A list is a count and so many words: a page, 0 for nothing, or -count and then the first
 * page.
 */
function claimFree(pages: Pages, list: Buffer): void {
  const words = list.length / WORD;
  const count = words >= 1 ? Number(list.readBigUInt64LE(0)) : words;
  if (count >= words) throw new Damage('a list of its free pages is not whole');
  for (let index = 1; index <= count; index++) {
    const word = Number(list.readBigInt64LE(index * WORD));
    if (word > 0) pages.claim(word, 1);
    if (word >= 0) continue;
    if (++index > count) throw new Damage('a list of its free pages is not whole');
    pages.claim(Number(list.readBigInt64LE(index * WORD)), -word);
  }
}
