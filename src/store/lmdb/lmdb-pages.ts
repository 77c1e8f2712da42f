/**
 * The form of the pages of an LMDB file, as the `lmdb` package's own liblmdb writes it, and the properties that LMDB
 * takes for granted. When a page lacks them, LMDB ends the process by an assertion, or reads and writes past the page.
 */

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
export const HEADER_BYTES = 24;
export const META_BYTES = 168;
const NODE_HEADER_BYTES = 8;
const OVERFLOW_REFERENCE_BYTES = 24;
const NO_PAGE = 0xffff_ffff_ffff_ffffn;
/** The page flags of mdb.c. */
const FLAG = { branch: 0x01, leaf: 0x02, overflow: 0x04, meta: 0x08 } as const;
/** The flag of an entry whose value lies on overflow pages. */
const NODE_BIG_DATA = 0x01;

/** Thrown for a damaged file; the message names the damage. */
export class Damage extends Error {}

interface Tree {
  /** The number of the root page; undefined: the tree is empty. */
  readonly root: number | undefined;
  /** How many pages lie on the way from the root to an entry, including the root. */
  readonly depth: number;
}

export interface Meta {
  readonly pageSize: number;
  /** The tree of the lists of free pages, each under the number of the transaction that freed them. */
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly transaction: number;
  /** Page size and flags of both trees, which stay the same for the life of a file. */
  readonly kind: string;
}

/** An entry on a page of a tree. */
export interface TreeNode {
  readonly key: Buffer;
  /** The page below; only in branches. */
  readonly child?: number;
  /** The value, unless it is `onPages`; only in leaves. */
  readonly value?: Buffer;
  readonly onPages?: OnPages;
}

/** A value of `bytes` bytes on `count` pages from `page` on. */
export interface OnPages {
  readonly page: number;
  readonly count: number;
  readonly bytes: number;
}

/** Reads the `META_BYTES` of meta page 0 or 1. */
export function readMeta(bytes: Buffer, page: number): Meta {
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
    free: readTree(bytes.subarray(48, 96)),
    main: readTree(bytes.subarray(96, 144)),
    lastPage: Number(bytes.readBigUInt64LE(144)),
    transaction: Number(bytes.readBigUInt64LE(152)),
    kind: [pageSize, bytes.readUInt16LE(52), bytes.readUInt16LE(100)].join(),
  };
}

function readTree(bytes: Buffer): Tree {
  const root = bytes.readBigUInt64LE(40);
  return { root: root === NO_PAGE ? undefined : Number(root), depth: bytes.readUInt16LE(6) };
}

/**
 * Checks the header of a page that `meta` knows. A page of a later transaction is damage: LMDB would take it
 * for a page that is not written yet.
 */
export function checkHeader(header: Buffer, page: number, meta: Meta): void {
  checkNumber(header, page);
  if (header.readBigUInt64LE(8) > meta.transaction) throw new Damage(`page ${page} is newer than the file`);
}

/** Checks the first of the `count` overflow pages that hold a value of `bytes`. */
export function checkOverflow(header: Buffer, value: OnPages, meta: Meta): void {
  checkHeader(header, value.page, meta);
  const isWhole = flagsOf(header) === FLAG.overflow && header.readUInt32LE(20) === value.count;
  if (!isWhole || HEADER_BYTES + value.bytes > value.count * meta.pageSize)
    throw new Damage(`page ${value.page} is not the value that it should be`);
}

/** The entries of a whole page of a tree, in their order. They fill the page from its end without a gap. */
export function readNodes(bytes: Buffer, page: number, kind: 'branch' | 'leaf'): TreeNode[] {
  if (flagsOf(bytes) !== FLAG[kind]) throw new Damage(`page ${page} is not the ${kind} that it should be`);
  const lower = bytes.readUInt16LE(20);
  const upper = bytes.readUInt16LE(22);
  const end = bytes.length - HEADER_BYTES;
  // A branch with a single child would fail an assertion of LMDB.
  const fewest = kind === 'branch' ? 2 : 1;
  if (lower % 2 !== 0 || lower < 2 * fewest || lower > upper || upper > end)
    throw new Damage(`the bounds of page ${page} are impossible`);
  const nodes: TreeNode[] = [];
  let unexplained = end - upper;
  for (let index = 0; index < lower / 2; index++) {
    const start = bytes.readUInt16LE(HEADER_BYTES + 2 * index);
    if (start < upper || start % 2 !== 0 || start + NODE_HEADER_BYTES > end)
      throw new Damage(`entry ${index} of page ${page} lies outside of it`);
    const { node, size } = readNode(bytes.subarray(HEADER_BYTES + start), kind);
    if (start + size > end || node.key.length > longestKey(bytes.length))
      throw new Damage(`entry ${index} of page ${page} is not whole`);
    unexplained -= size + (size % 2);
    nodes.push(node);
  }
  if (unexplained !== 0) throw new Damage(`the entries of page ${page} do not fill it`);
  return nodes;
}

/**
 * The entries of a page that may be damaged, as far as their places on it can be. The caller must judge each of them,
 * and an entry of a branch may lead anywhere.
 */
export function* readNodesLoosely(bytes: Buffer, kind: 'branch' | 'leaf'): Generator<TreeNode> {
  const end = bytes.length - HEADER_BYTES;
  const lower = Math.min(bytes.readUInt16LE(20), end - 1);
  const upper = bytes.readUInt16LE(22);
  for (let at = 0; at + 1 < lower; at += 2) {
    const start = bytes.readUInt16LE(HEADER_BYTES + at);
    if (start < upper || start % 2 !== 0 || start + NODE_HEADER_BYTES > end) continue;
    const { node, size } = readNode(bytes.subarray(HEADER_BYTES + start), kind);
    if (start + size <= end) yield node;
  }
}

/** Reads the entry at the start of `bytes`; `size`: the size that it claims. */
function readNode(bytes: Buffer, kind: 'branch' | 'leaf'): { node: TreeNode; size: number } {
  const length = bytes.readUInt32LE(0);
  const flags = bytes.readUInt16LE(4);
  const dataAt = NODE_HEADER_BYTES + bytes.readUInt16LE(6);
  const key = bytes.subarray(NODE_HEADER_BYTES, dataAt);
  if (kind === 'branch') return { node: { key, child: length + flags * 2 ** 32 }, size: dataAt };
  if (flags === 0)
    return { node: { key, value: bytes.subarray(dataAt, dataAt + length) }, size: dataAt + length };
  const size = dataAt + OVERFLOW_REFERENCE_BYTES;
  if (flags !== NODE_BIG_DATA || size > bytes.length)
    return { node: { key }, size: Number.POSITIVE_INFINITY };
  const onPages = {
    page: Number(bytes.readBigUInt64LE(dataAt)),
    count: Number(bytes.readBigUInt64LE(dataAt + 16)),
    bytes: length,
  };
  return { node: { key, onPages }, size };
}

/** The longest key: LMDB wants room for two entries on a page. */
function longestKey(pageSize: number): number {
  return (((pageSize - HEADER_BYTES) / 2) & -2) - 58;
}

function flagsOf(page: Buffer): number {
  return page.readUInt16LE(18);
}

function checkNumber(bytes: Buffer, page: number): void {
  if (Number(bytes.readBigUInt64LE(0)) !== page) throw new Damage(`page ${page} is overwritten`);
}
