/**
 * The wrapper's template trees, `data/template-cache/<digest>.packs/`: complete, verified and never changed. Working
 * directories are copied from them. A start removes the rests of a killed process, and trees in the form of another
 * version.
 */
import { utimesSync } from 'node:fs';
import { lstat, mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissing } from '../../files/system-error.js';
import { abortable } from '../../loop/abortable.js';
import type { Clock } from '../../loop/clock.js';
import type { Part } from '../../loop/lifecycle.js';
import { DroverError, invalidRequest, templateCorrupt } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import type { FetchCost } from '../../model/template.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { Logger } from '../../telemetry/logger.js';
import { isDigest } from '../tree/digest.js';
import { removeTree } from '../tree/remove-tree.js';
import { TREE_LIMITS } from '../tree/tree.js';
import type { BundleLimits } from './bundle.js';
import type { Base } from './delta.js';
import type { PackThreads } from './pack-threads.js';
import type { PackedItem } from './packs.js';
import type { TreeOffer } from './tree-fetch.js';
import { labelOf, TreeIntake } from './tree-intake.js';
import { nameOfTree, readRecord, treeOfName } from './tree-record.js';

/** The most entries of cached trees that are searched for files to share with a new tree. */
const MAX_BASE_ENTRIES = 200_000;
/** The limit for the entries of all tree listings that are kept in memory. */
const MAX_KEPT_ENTRIES = 100_000;

export interface TemplateCacheOptions extends Ambient {
  /** `data/template-cache/`; made when missing. */
  readonly directory: string;
  /** The threads that hash the contents of arriving trees. */
  readonly packThreads: PackThreads;
  /** The limits for one template. */
  readonly limits?: BundleLimits;
}

/** A cached tree, for copying. */
interface CachedTree {
  readonly directory: string;
  /** The items of the tree, parents before children. */
  readonly items: readonly PackedItem[];
}

interface EvictionRule {
  /** The limit for all trees together. The trees that were unused for longest are removed first. */
  readonly maxBytes: number;
  /** A tree that was unused for longer than this is removed in any case. */
  readonly maxAgeMs: number;
  /** The digests that instances of this node name. */
  readonly inUse: ReadonlySet<string>;
}

const FREE: FetchCost = { transferredBytes: 0, transferredFiles: 0 };

interface MeasuredTree {
  readonly digest: string;
  /** The time of the last use, in Unix milliseconds. */
  readonly usedAt: number;
  readonly bytes: number;
}

export class TemplateCache implements Part {
  readonly #directory: string;
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #intake: TreeIntake;
  readonly #cached = new Set<string>();
  readonly #adding = new Map<string, Promise<unknown>>();
  readonly #readers = new Map<string, number>();
  readonly #listings = new Map<string, readonly PackedItem[]>();

  constructor({
    directory,
    logger,
    clock,
    packThreads: threads,
    limits = TREE_LIMITS,
  }: TemplateCacheOptions) {
    this.#directory = directory;
    this.#logger = logger;
    this.#clock = clock;
    this.#intake = new TreeIntake({ directory, limits, logger, threads });
  }

  /** Reads which trees are on disk and removes everything else. */
  async start(): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(this.#directory)) {
      const digest = treeOfName(name);
      if (digest === undefined) await removeTree(join(this.#directory, name));
      else this.#cached.add(digest);
    }
  }

  /** Waits for the additions under way; abort their signals first. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#adding.values());
  }

  has(digest: string): boolean {
    return this.#cached.has(digest);
  }

  /**
   * The directory where the tree with this digest is or would be. Throws DRV_REQUEST_INVALID for a text that is not a
   * digest.
   */
  directoryOf(digest: string): string {
    if (!isDigest(digest)) throw invalidRequest(`${digest} is no template digest`);
    return join(this.#directory, nameOfTree(digest));
  }

  /**
   * Adds the tree, whole or not at all, and fetches only the files that no cached tree has. Does nothing when the tree
   * is cached already. When calls for one digest overlap, only the first reads its offer; the others read theirs if it
   * fails. Throws DRV_REQUEST_INVALID for a text that is not a digest, DRV_TEMPLATE_CORRUPT when another tree came,
   * DRV_DISK_WRITE_FAILED, and the offer's own errors.
   */
  async fetch(digest: string, offer: TreeOffer, signal: AbortSignal): Promise<FetchCost> {
    this.directoryOf(digest);
    for (;;) {
      signal.throwIfAborted();
      if (this.has(digest)) return FREE;
      const other = this.#adding.get(digest);
      if (other === undefined) break;
      await abortable(Promise.allSettled([other]), signal);
    }
    const adding = this.#take(digest, offer, signal).finally(() => this.#adding.delete(digest));
    this.#adding.set(digest, adding);
    return adding;
  }

  /**
   * The listing of a cached tree. Throws DRV_TEMPLATE_CORRUPT when the tree is missing or was evicted: add it again.
   */
  async tree(digest: string, signal: AbortSignal): Promise<CachedTree> {
    const directory = this.directoryOf(digest);
    if (!this.has(digest)) throw gone(digest);
    this.#touch(digest);
    const known = this.#listings.get(digest);
    if (known !== undefined) return { directory, items: known };
    try {
      const items = listingOf(await readRecord(directory, digest));
      signal.throwIfAborted();
      this.#keepListing(digest, items);
      return { directory, items };
    } catch (error) {
      if (!isMissing(error) && !DroverError.is(error, 'DRV_TEMPLATE_CORRUPT')) throw error;
      await this.discard(digest);
      throw gone(digest);
    }
  }

  /** Keeps the tree from eviction until the returned function is called. */
  pin(digest: string): () => void {
    this.#readers.set(digest, (this.#readers.get(digest) ?? 0) + 1);
    let isPinned = true;
    return () => {
      if (!isPinned) return;
      isPinned = false;
      const left = (this.#readers.get(digest) ?? 1) - 1;
      if (left === 0) this.#readers.delete(digest);
      else this.#readers.set(digest, left);
    };
  }

  /** Removes a damaged tree, so that it is fetched again. Repeatable. */
  async discard(digest: string): Promise<void> {
    this.#cached.delete(digest);
    this.#listings.delete(digest);
    const away = this.#intake.besideOf(digest);
    try {
      await rename(this.directoryOf(digest), away);
    } catch (error) {
      if (isMissing(error)) return;
      throw error;
    }
    await removeTree(away);
  }

  /** Removes unused trees that are too old, and then more until the rest fits. Resolves with the digests removed. */
  async evict({ maxBytes, maxAgeMs, inUse }: EvictionRule, signal: AbortSignal): Promise<string[]> {
    const trees: MeasuredTree[] = [];
    for (const digest of [...this.#cached]) trees.push(await this.#measure(digest, signal));
    let total = trees.reduce((sum, { bytes }) => sum + bytes, 0);
    const removed: string[] = [];
    for (const { digest, bytes, usedAt } of trees.sort((a, b) => a.usedAt - b.usedAt)) {
      signal.throwIfAborted();
      const isOld = this.#clock.now() - usedAt > maxAgeMs;
      if (!isOld && total <= maxBytes) continue;
      if (inUse.has(digest) || this.#readers.has(digest)) continue;
      await this.discard(digest);
      this.#logger.info(
        { digest, bytes },
        `template tree removed from the cache: ${isOld ? 'unused' : 'full'}`,
      );
      removed.push(digest);
      total -= bytes;
    }
    return removed;
  }

  async #take(digest: string, { whole, parts }: TreeOffer, signal: AbortSignal): Promise<FetchCost> {
    // In an empty cache there is nothing to share.
    const offer = parts === undefined || this.#cached.size === 0 ? { whole } : { whole, parts };
    const { items, damaged, ...cost } = await this.#intake.take(digest, offer, this.#bases(signal), signal);
    this.#cached.add(digest);
    this.#keepListing(digest, listingOf(items));
    for (const base of damaged) {
      this.#logger.warn({ digest: base }, `${labelOf(base)} was damaged on this disk and is removed`);
      await this.discard(base);
    }
    return cost;
  }

  /** The cached trees with their manifests, the last used first. */
  async *#bases(signal: AbortSignal): AsyncGenerator<Base> {
    const found = [...this.#cached].map(async (digest) => ({ digest, usedAt: await this.#usedAt(digest) }));
    let entries = 0;
    for (const { digest } of (await Promise.all(found)).sort((a, b) => b.usedAt - a.usedAt)) {
      signal.throwIfAborted();
      if (entries > MAX_BASE_ENTRIES) return;
      const directory = this.directoryOf(digest);
      // A damaged record is skipped here; the tree is dropped when an instance wants it.
      const items = await readRecord(directory, digest).catch(() => undefined);
      if (items === undefined || !this.has(digest)) continue;
      entries += items.length;
      yield { digest, directory, items };
    }
  }

  #keepListing(digest: string, items: readonly PackedItem[]): void {
    this.#listings.delete(digest);
    this.#listings.set(digest, items);
    let total = [...this.#listings.values()].reduce((sum, { length }) => sum + length, 0);
    for (const [oldest, { length }] of this.#listings) {
      if (total <= MAX_KEPT_ENTRIES) return;
      this.#listings.delete(oldest);
      total -= length;
    }
  }

  /** Keeps the time of the last use as the tree's modification time, so that it outlives the process. */
  #touch(digest: string): void {
    const now = this.#clock.now() / 1000;
    // The tree may be gone. Its reader will notice that.
    attempt(() => utimesSync(this.directoryOf(digest), now, now));
  }

  async #measure(digest: string, signal: AbortSignal): Promise<MeasuredTree> {
    try {
      const usedAt = await this.#usedAt(digest);
      const items = this.#listings.get(digest) ?? (await readRecord(this.directoryOf(digest), digest));
      signal.throwIfAborted();
      return { digest, usedAt, bytes: items.reduce((sum, { size }) => sum + size, 0) };
    } catch {
      signal.throwIfAborted();
      // A tree that cannot be read is of no use, so it is evicted first.
      return { digest, usedAt: 0, bytes: 0 };
    }
  }

  /** The time when the tree was used last; 0 for a tree that cannot be read, so that it is evicted first. */
  async #usedAt(digest: string): Promise<number> {
    return lstat(this.directoryOf(digest)).then(
      ({ mtimeMs }) => mtimeMs,
      () => 0,
    );
  }
}

/** The items without their hashes, which are not needed any more. */
function listingOf(entries: readonly PackedItem[]): PackedItem[] {
  return entries.map(({ path, kind, executable, size, place }) => ({ path, kind, executable, size, place }));
}

function gone(digest: string): DroverError {
  return templateCorrupt(`${labelOf(digest)} is not in the cache of this node; it is fetched again`);
}
