/**
 * Keeps the digest of one template tree up to date at low cost. It reads contents again only when the stat facts of the
 * tree have changed. Where the tree is watched, it looks again only after an event. The library has one for each
 * template, and so has each copy of a storage.
 */
import { lstat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ABSENT_SUBMODULE, isAbsentSubmodule } from '../../files/git-leftovers.js';
import { isMissing } from '../../files/system-error.js';
import type { Clock } from '../../loop/clock.js';
import { messageOf, templateUnsafe } from '../../model/errors.js';
import { digestOf, type HashedItem, hashTree, type KnownHashes } from './digest.js';
import {
  lastChangeOf,
  readSteadily,
  type StatFacts,
  signatureOf,
  type TreeEntry,
  type TreePlace,
  unsafe,
  walkTree,
} from './tree.js';

/** For how long a tree that is not watched keeps its last answer without a look at the disk. */
const TRUST_MS = 1000;
/**
 * File systems note times in coarse steps. A tree that changed this shortly before it was read may change
 * again without a new time.
 */
const UNSETTLED_MS = 2000;

/**
 * The hashes of files from this size on are kept, so that another file's change does not make them read again. There
 * are few such files.
 */
const LARGE_BYTES = 256 * 1024;

/** A digest, or the error that prevented it. `null`: there is no such tree. */
type Finding = { readonly digest: string | null } | { readonly error: unknown };

interface Look {
  readonly finding: Promise<Finding>;
  /** True when the tree was distrusted during the look, which may have missed a change. */
  isOutdated: boolean;
}

interface TreeDigestOptions {
  readonly place: TreePlace;
  readonly clock: Clock;
  /** Called when the answer of `read` has changed; not called for the first answer. */
  readonly onChanged?: () => void;
  /**
   * Called with the directories of the tree (inode by path) after each look.
   *
   * - True: they were watched before the look began, and `distrust` is called at a change.
   * - False: they will be watched, and `distrust` is called then.
   * - Undefined: they are not watched.
   */
  readonly follow?: (directories: ReadonlyMap<string, bigint>) => boolean | undefined;
}

export class TreeDigest {
  readonly #options: TreeDigestOptions;
  #finding: Finding | undefined;
  /** The end of the time for which the last answer holds, on the monotonic clock. */
  #heldUntil = Number.NEGATIVE_INFINITY;
  #signature: string | null = null;
  #large: KnownHashes = new Map();
  #directories: ReadonlyMap<string, bigint> = new Map();
  #running: Look | null = null;
  #lookMs = 0;

  constructor(options: TreeDigestOptions) {
    this.#options = options;
  }

  /** The digest of the last look; null when there was no tree, or it could not be read. */
  get last(): string | null {
    return this.#finding !== undefined && 'digest' in this.#finding ? this.#finding.digest : null;
  }

  /** How long the last look took. */
  get lookMs(): number {
    return this.#lookMs;
  }

  /**
   * The digest of the tree now; null when there is no such tree. Where the tree is not watched, the digest may be a
   * second old. Concurrent calls share one walk. Throws DRV_TEMPLATE_UNSAFE.
   */
  async read(signal: AbortSignal): Promise<string | null> {
    while (this.#running?.isOutdated === true) await this.#running.finding;
    const isHeld = this.#options.clock.monotonic() < this.#heldUntil;
    if (this.#running === null && isHeld && this.#finding !== undefined) return unpackFinding(this.#finding);
    return await this.look(signal);
  }

  /** Like `read`, but always looks at the disk. */
  async look(signal: AbortSignal): Promise<string | null> {
    this.#running ??= this.#begin(signal);
    return unpackFinding(await this.#running.finding);
  }

  /** Makes the next `read` look at the disk, even when a look is under way. */
  distrust(): void {
    this.#heldUntil = Number.NEGATIVE_INFINITY;
    if (this.#running !== null) this.#running.isOutdated = true;
  }

  #begin(signal: AbortSignal): Look {
    const finding = this.#revalidate(signal).finally(() => {
      if (look.isOutdated) this.#heldUntil = Number.NEGATIVE_INFINITY;
      this.#running = null;
    });
    const look: Look = { finding, isOutdated: false };
    return look;
  }

  async #revalidate(signal: AbortSignal): Promise<Finding> {
    const { clock, onChanged } = this.#options;
    const startedAt = clock.monotonic();
    const finding = await this.#find(signal).catch((error: unknown) => ({ error }));
    if (signal.aborted) return finding;
    const before = this.#finding;
    this.#finding = finding;
    this.#lookMs = clock.monotonic() - startedAt;
    this.#heldUntil = this.#holdFrom(startedAt);
    if (this.last === null) this.#signature = null;
    if (before !== undefined && textOf(before) !== textOf(finding)) onChanged?.();
    return finding;
  }

  /**
   * The end of the time for which the answer of a look holds. A tree without a digest was not walked, so it is not
   * watched either.
   */
  #holdFrom(startedAt: number): number {
    const isWatched = this.last === null ? undefined : this.#options.follow?.(this.#directories);
    if (isWatched === undefined) return startedAt + TRUST_MS;
    return isWatched ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  async #find(signal: AbortSignal): Promise<Finding> {
    const { place } = this.#options;
    try {
      return await readSteadily(async () => {
        // Check the group's directory here: the walk checks only the last segment of its root for a link.
        const group = await lstat(dirname(place.root));
        if (group.isSymbolicLink()) throw unsafe(place, 'its group', 'is a symbolic link');
        const root = await lstat(place.root, { bigint: true });
        const entries = await walkTree(place, signal);
        await requireSubmodules(place, entries);
        if (this.#options.follow !== undefined)
          this.#directories = directoriesOf(place.root, root.ino, entries);
        return { digest: await this.#digestOf(entries, signal) };
      });
    } catch (error) {
      if (isMissing(error)) return { digest: null };
      throw error;
    }
  }

  async #digestOf(entries: readonly TreeEntry[], signal: AbortSignal): Promise<string> {
    const { place, clock } = this.#options;
    const signature = await signatureOf(entries);
    const last = this.last;
    if (last !== null && signature === this.#signature) return last;
    const readAt = clock.now();
    const items = await hashTree(place, entries, signal, this.#large);
    const isSettled = (some: readonly TreeEntry[]): boolean =>
      Math.abs(readAt - lastChangeOf(some)) > UNSETTLED_MS;
    this.#signature = isSettled(entries) ? signature : null;
    this.#large = largeOf(entries, items, isSettled);
    return await digestOf(items);
  }
}

/** Throws DRV_TEMPLATE_UNSAFE for an empty directory, maybe the whole tree, that is a submodule without its files. */
async function requireSubmodules({ root, label }: TreePlace, entries: readonly TreeEntry[]): Promise<void> {
  const full = new Set(entries.map(({ path }) => dirname(path)));
  const directories = entries.filter(({ kind }) => kind === 'directory').map(({ path }) => path);
  for (const path of ['.', ...directories])
    if (!full.has(path) && (await isAbsentSubmodule(join(root, path))))
      throw templateUnsafe(`${path === '.' ? label : `${label}: ${path}`} ${ABSENT_SUBMODULE}`);
}

/** `items`: the hashed items of `entries`, in the same order. */
function largeOf(
  entries: readonly TreeEntry[],
  items: readonly HashedItem[],
  isSettled: (some: readonly TreeEntry[]) => boolean,
): KnownHashes {
  const large = new Map<string, { stat: StatFacts; hash: Buffer }>();
  for (const [index, entry] of entries.entries()) {
    const hash = items[index]?.hash;
    if (hash !== undefined && entry.size >= LARGE_BYTES && isSettled([entry]))
      large.set(entry.path, { stat: entry.stat, hash });
  }
  return large;
}

function directoriesOf(root: string, inode: bigint, entries: readonly TreeEntry[]): Map<string, bigint> {
  const directories = entries.filter(({ kind }) => kind === 'directory');
  return new Map([
    [join(root), inode],
    ...directories.map(({ path, stat }) => [join(root, path), stat.ino] as const),
  ]);
}

function unpackFinding(finding: Finding): string | null {
  if ('error' in finding) throw finding.error;
  return finding.digest;
}

function textOf(finding: Finding): string {
  return 'error' in finding ? messageOf(finding.error) : `${finding.digest}`;
}
