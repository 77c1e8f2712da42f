/**
 * Reads what is whole in a store file that `openStore` refuses, with plain reads that change nothing. The checksum of
 * each record is the judge: it covers key, revision and value, so no changed record comes through.
 */
import { closeSync, openSync } from 'node:fs';
import { messageOf } from '../../model/errors.js';
import { toPlainText } from '../../telemetry/plain-text.js';
import type { Entry, StoreState } from '../store.js';
import { claimFreePages, Pages, readMetaOf } from './lmdb-file.js';
import {
  checkHeader,
  Damage,
  HEADER_BYTES,
  type Meta,
  readNodes,
  readNodesLoosely,
  type TreeNode,
} from './lmdb-pages.js';
import { decodeEntry, decodeSummary, type Summary } from './lmdb-record.js';

/** The first byte of the key of the summary, which LMDB writes for the number 0. No key of an entry begins with it. */
const SUMMARY_BYTE = 0x10;
const PAGE_SIZES = [4096, 8192, 16_384, 32_768, 65_536];

export interface Salvaged extends StoreState {
  /** The broken and missing parts, a line each, for a person. */
  readonly losses: readonly string[];
}

/** Returns all records that are whole. Throws the system's error, and Damage when no record can be found at all. */
export function salvage(file: string): Salvaged {
  const fd = openSync(file, 'r');
  try {
    const problems: string[] = [];
    const readings = metasOf(fd, problems).flatMap((meta) => attempt(problems, () => new Reading(fd, meta)));
    // Both meta pages may be readable; the one that was written last describes the newest state.
    const [best] = readings.toSorted((a, b) => b.revision - a.revision || b.entries.size - a.entries.size);
    if (best === undefined || best.entries.size === 0)
      throw new Damage(problems[0] ?? best?.losses[0] ?? 'it holds no record');
    return best.result(problems);
  } finally {
    closeSync(fd);
  }
}

/** The meta pages that can be read. When the first one cannot, the second one is looked for at each page size. */
function metasOf(fd: number, problems: string[]): Meta[] {
  const [first] = attempt(problems, () => readMetaOf(fd, 0, 0));
  if (first !== undefined) return [first, ...attempt(problems, () => readMetaOf(fd, 1, first.pageSize))];
  return PAGE_SIZES.flatMap((size) => attempt([], () => readMetaOf(fd, 1, size)));
}

function attempt<T>(problems: string[], work: () => T): T[] {
  try {
    return [work()];
  } catch (error) {
    if (!(error instanceof Damage)) throw error;
    problems.push(error.message);
    return [];
  }
}

/** A file read by one of its meta pages. */
class Reading {
  readonly entries = new Map<string, Entry>();
  readonly losses: string[] = [];
  readonly #pages: Pages;
  #summary: Summary | undefined;

  constructor(fd: number, meta: Meta) {
    this.#pages = new Pages(fd, meta);
    // Claim the free pages first: they hold records of former states, which must not come back.
    const isFreeKnown = attempt(this.losses, () => claimFreePages(this.#pages) ?? true).length > 0;
    if (meta.main.root !== undefined) this.#visit(meta.main.root, meta.main.depth);
    // A page that is neither free nor found was lost with the page above it.
    if (isFreeKnown) for (const page of this.#pages.unclaimed()) this.#takeLeaf(page);
  }

  /** The revision of the state; when the summary is broken, the newest revision of a record. */
  get revision(): number {
    const newest = [...this.entries.values()].reduce((most, { revision }) => Math.max(most, revision), 0);
    return Math.max(this.#summary?.revision ?? 0, newest);
  }

  result(problems: readonly string[]): Salvaged {
    const entries = [...this.entries.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1));
    const missing = this.#summary === undefined ? undefined : this.#summary.entries - entries.length;
    const count =
      missing === undefined
        ? ['the summary cannot be read: how many records there were is not known']
        : missing === 0
          ? []
          : [`${missing} of ${this.#summary?.entries} records cannot be read`];
    return { entries, revision: this.revision, losses: [...problems, ...this.losses, ...count] };
  }

  #visit(page: number, depth: number): void {
    const kind = depth > 1 ? 'branch' : 'leaf';
    const [bytes] = attempt(this.losses, () => this.#pages.claimWritten(page, 1, this.#pages.meta.pageSize));
    if (bytes === undefined) return;
    for (const node of this.#nodesOf(bytes, page, kind)) {
      if (node.child === undefined) this.#take(node);
      else this.#visit(node.child, depth - 1);
    }
  }

  #nodesOf(bytes: Buffer, page: number, kind: 'branch' | 'leaf'): readonly TreeNode[] {
    const [nodes] = attempt(this.losses, () => {
      checkHeader(bytes, page, this.#pages.meta);
      return readNodes(bytes, page, kind);
    });
    return nodes ?? [...readNodesLoosely(bytes, kind)];
  }

  #takeLeaf(page: number): void {
    const [nodes = []] = attempt([], () => {
      const bytes = this.#pages.read(page, this.#pages.meta.pageSize);
      checkHeader(bytes, page, this.#pages.meta);
      return readNodes(bytes, page, 'leaf');
    });
    for (const node of nodes) this.#take(node);
  }

  #take(node: TreeNode): void {
    const key = node.key.toString();
    try {
      const value = this.#valueOf(node);
      if (node.key[0] === SUMMARY_BYTE) this.#summary = decodeSummary(value);
      else this.#keep(decodeEntry(key, value));
    } catch (error) {
      this.losses.push(toPlainText(messageOf(error)));
    }
  }

  #keep(entry: Entry): void {
    const present = this.entries.get(entry.key);
    if (present === undefined || present.revision < entry.revision) this.entries.set(entry.key, entry);
  }

  #valueOf({ value, onPages }: TreeNode): Buffer {
    if (onPages === undefined) return value ?? Buffer.alloc(0);
    return this.#pages.read(onPages.page, HEADER_BYTES + onPages.bytes).subarray(HEADER_BYTES);
  }
}
