/**
 * Checks an LMDB data file with plain reads before LMDB maps it into memory. A file that is cut off or overwritten
 * would end the process by a signal there. The check follows both trees page by page; it does not judge the values.
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const HEADER_BYTES = 24;
const META_BYTES = 168;
const MAX_MISSING_PAGES = 1024;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
/** Page flags of mdb.c. */
const FLAG = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const;
/** The value lies on overflow pages. */
const NODE_BIG_DATA = 0x01;

/** The message says what is wrong with the file. */
class Damage extends Error {}

interface Meta {
  readonly pageSize: number;
  readonly roots: readonly bigint[];
  readonly lastPage: number;
  readonly transaction: number;
  /** Page size and flags of both trees: the same for the life of a file. */
  readonly kind: string;
}

/**
 * Returns what is wrong with the LMDB file, for a person; undefined when it is safe to open. Throws when it cannot
 * be read.
 */
export function findDamage(file: string): string | undefined {
  const fd = openSync(file, 'r');
  try {
    const pages = new Pages(fd);
    for (const root of pages.latest.roots) if (root !== NO_PAGE) walk(pages, Number(root));
    return undefined;
  } catch (error) {
    if (error instanceof Damage) return error.message;
    throw error;
  } finally {
    closeSync(fd);
  }
}

/** The pages of one file. Each is checked: it lies where it says, and it is of the kind that is expected there. */
class Pages {
  readonly latest: Meta;
  readonly #fd: number;
  readonly #bytes: number;
  readonly #seen = new Set<number>();

  constructor(fd: number) {
    this.#fd = fd;
    this.#bytes = fstatSync(fd).size;
    const first = this.#readMeta(0, 0);
    const second = this.#readMeta(1, first.pageSize);
    this.latest = first.transaction > second.transaction ? first : second;
    const apart = Math.abs(first.transaction - second.transaction);
    // Transaction n writes meta page n % 2, and the other page keeps n - 1. Before the first one both hold 0.
    const inPlace = second.transaction % 2 === 1 && first.transaction % 2 === 0 && apart === 1;
    if (!inPlace && this.latest.transaction !== 0)
      throw new Damage(
        `its meta pages do not follow each other (${first.transaction}, ${second.transaction})`,
      );
    if (first.kind !== second.kind) throw new Damage('its meta pages contradict each other');
    // Free pages at the end may never have been written, so the file may be a little shorter than it says.
    const present = this.#bytes / this.latest.pageSize;
    if (this.latest.lastPage > 2 * present + MAX_MISSING_PAGES)
      throw new Damage(`it says to have ${this.latest.lastPage} pages, but has ${present}`);
  }

  /** Reads a page for the first time. A second read of one page means that two places claim it. */
  read(page: number): Buffer {
    this.#claim(page, 1);
    const bytes = this.#readAt(page * this.latest.pageSize, this.latest.pageSize);
    checkNumber(bytes, page);
    return bytes;
  }

  /** Checks the overflow pages of one value: the `count` pages from `page` on hold `valueBytes`. */
  checkOverflow(page: number, count: number, valueBytes: number): void {
    this.#claim(page, count);
    const header = this.#readAt(page * this.latest.pageSize, HEADER_BYTES);
    checkNumber(header, page);
    const isWhole = flagsOf(header) === FLAG.overflow && header.readUInt32LE(20) === count;
    if (!isWhole || HEADER_BYTES + valueBytes > count * this.latest.pageSize)
      throw new Damage(`page ${page} is not the value that it should be`);
  }

  #claim(page: number, count: number): void {
    const end = page + count;
    if (page < 2 || count < 1 || end - 1 > this.latest.lastPage)
      throw new Damage(`it refers to page ${page}, which does not exist`);
    if (end * this.latest.pageSize > this.#bytes)
      throw new Damage(`it is cut off: ${this.#bytes} bytes, but page ${end - 1} is in use`);
    if (this.#seen.has(page)) throw new Damage(`page ${page} is used twice`);
    this.#seen.add(page);
  }

  #readMeta(page: number, offset: number): Meta {
    const bytes = this.#readAt(offset, META_BYTES);
    checkNumber(bytes, page);
    if (flagsOf(bytes) !== FLAG.meta || bytes.readUInt32LE(24) !== MAGIC)
      throw new Damage(`page ${page} is not an LMDB meta page`);
    if ((bytes.readUInt32LE(28) & 0xffff) !== DATA_VERSION)
      throw new Damage(`it has LMDB format ${bytes.readUInt32LE(28) & 0xffff}, not ${DATA_VERSION}`);
    const pageSize = bytes.readUInt32LE(48);
    if (pageSize < 512 || pageSize > 65_536 || (pageSize & (pageSize - 1)) !== 0)
      throw new Damage(`its page size ${pageSize} is impossible`);
    return {
      pageSize,
      roots: [bytes.readBigUInt64LE(88), bytes.readBigUInt64LE(136)],
      lastPage: Number(bytes.readBigUInt64LE(144)),
      transaction: Number(bytes.readBigUInt64LE(152)),
      kind: [pageSize, bytes.readUInt16LE(52), bytes.readUInt16LE(100)].join(),
    };
  }

  #readAt(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    if (readSync(this.#fd, bytes, 0, length, offset) !== length)
      throw new Damage(`it is cut off after ${this.#bytes} bytes`);
    return bytes;
  }
}

function walk(pages: Pages, root: number): void {
  const open = [root];
  for (let page = open.pop(); page !== undefined; page = open.pop()) {
    const bytes = pages.read(page);
    const flags = flagsOf(bytes);
    if (flags !== FLAG.branch && flags !== FLAG.leaf)
      throw new Damage(`page ${page} is neither branch nor leaf`);
    const nodes = bytes.readUInt16LE(20) >> 1;
    for (let index = 0; index < nodes; index++) {
      const node = nodeAt(bytes, page, index);
      if (flags === FLAG.branch) open.push(node.readUInt32LE(0) + node.readUInt16LE(4) * 2 ** 32);
      else checkLeafNode(pages, page, node);
    }
  }
}

/** The bytes from the node's start to the end of its page. */
function nodeAt(bytes: Buffer, page: number, index: number): Buffer {
  const pointer = HEADER_BYTES + 2 * index;
  const start = pointer + 2 <= bytes.length ? HEADER_BYTES + bytes.readUInt16LE(pointer) : bytes.length;
  const node = bytes.subarray(start);
  if (node.length < 8 || 8 + node.readUInt16LE(6) > node.length)
    throw new Damage(`entry ${index} of page ${page} lies outside of it`);
  return node;
}

function checkLeafNode(pages: Pages, page: number, node: Buffer): void {
  const data = 8 + node.readUInt16LE(6);
  const isBig = node.readUInt16LE(4) === NODE_BIG_DATA;
  const valueBytes = node.readUInt32LE(0);
  if (data + (isBig ? HEADER_BYTES : valueBytes) > node.length || (!isBig && node.readUInt16LE(4) !== 0))
    throw new Damage(`an entry of page ${page} is not whole`);
  if (!isBig) return;
  pages.checkOverflow(
    Number(node.readBigUInt64LE(data)),
    Number(node.readBigUInt64LE(data + 16)),
    valueBytes,
  );
}

function flagsOf(page: Buffer): number {
  return page.readUInt16LE(18);
}

function checkNumber(bytes: Buffer, page: number): void {
  if (Number(bytes.readBigUInt64LE(0)) !== page) throw new Damage(`page ${page} is overwritten`);
}
