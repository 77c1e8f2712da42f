/**
 * Keeps the digest of one template tree up to date at low cost: contents are read again only when the stat facts of the
 * tree have changed. Used by the library, one per template.
 */
import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../../loop/clock.js';
import { digestTree } from './digest.js';
import { systemCodeOf } from './system-error.js';
import {
  lastChangeOf,
  readSteadily,
  signatureOf,
  type TreeEntry,
  type TreePlace,
  unsafe,
  walkTree,
} from './tree.js';

/** Within this time calls get the same answer without a look at the disk. */
const TRUST_MS = 1000;
/** Times of files are coarse: a tree that changed this shortly before it was read may change again unseen. */
const UNSETTLED_MS = 2000;

/** A digest, or the error that prevented one. `null`: there is no such tree. */
type Finding = { readonly digest: string | null } | { readonly error: unknown };

interface Look {
  readonly finding: Promise<Finding>;
  /** The tree was distrusted during the look, which may have missed a change. */
  isOutdated: boolean;
}

export class TreeDigest {
  readonly #place: TreePlace;
  readonly #clock: Clock;
  readonly #onChanged: (digest: string) => void;
  #finding: Finding = { digest: null };
  #checkedAt = Number.NEGATIVE_INFINITY;
  #signature: string | null = null;
  #running: Look | null = null;

  /** `onChanged` is called when a tree that had a digest is found to have another one. */
  constructor(place: TreePlace, clock: Clock, onChanged: (digest: string) => void) {
    this.#place = place;
    this.#clock = clock;
    this.#onChanged = onChanged;
  }

  /** The digest that was found last; null when there was no tree, or it could not be read. */
  get last(): string | null {
    return 'digest' in this.#finding ? this.#finding.digest : null;
  }

  /**
   * The digest of the tree now, or at most a second ago; null when there is no such tree. Concurrent calls share one
   * walk. Throws DRV_TEMPLATE_UNSAFE.
   */
  async read(signal: AbortSignal): Promise<string | null> {
    while (this.#running?.isOutdated === true) await this.#running.finding;
    if (this.#running === null && this.#clock.monotonic() - this.#checkedAt < TRUST_MS) {
      return unpackFinding(this.#finding);
    }
    this.#running ??= this.#look(signal);
    return unpackFinding(await this.#running.finding);
  }

  /** Makes the next `read` look at the disk, also when a look is under way. */
  distrust(): void {
    this.#checkedAt = Number.NEGATIVE_INFINITY;
    if (this.#running !== null) this.#running.isOutdated = true;
  }

  #look(signal: AbortSignal): Look {
    const finding = this.#revalidate(signal).finally(() => {
      if (look.isOutdated) this.#checkedAt = Number.NEGATIVE_INFINITY;
      this.#running = null;
    });
    const look: Look = { finding, isOutdated: false };
    return look;
  }

  async #revalidate(signal: AbortSignal): Promise<Finding> {
    const startedAt = this.#clock.monotonic();
    const finding = await this.#find(signal).catch((error: unknown) => ({ error }));
    if (signal.aborted) return finding;
    const before = this.last;
    this.#finding = finding;
    this.#checkedAt = startedAt;
    const after = this.last;
    if (after === null) this.#signature = null;
    else if (before !== null && after !== before) this.#onChanged(after);
    return finding;
  }

  async #find(signal: AbortSignal): Promise<Finding> {
    try {
      return await readSteadily(async () => {
        await this.#refuseLinkedGroup();
        const entries = await walkTree(this.#place, signal);
        return { digest: await this.#digestOf(entries, signal) };
      });
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return { digest: null };
      throw error;
    }
  }

  /** Checks the group's directory for a link: the walk itself checks only the last segment of its root. */
  async #refuseLinkedGroup(): Promise<void> {
    const group = await lstat(dirname(this.#place.root));
    if (group.isSymbolicLink()) throw unsafe(this.#place, 'its group', 'is a symbolic link');
  }

  async #digestOf(entries: readonly TreeEntry[], signal: AbortSignal): Promise<string> {
    const signature = await signatureOf(entries);
    const last = this.last;
    if (last !== null && signature === this.#signature) return last;
    const readAt = this.#clock.now();
    const digest = await digestTree(this.#place, entries, signal);
    const isSettled = Math.abs(readAt - lastChangeOf(entries)) > UNSETTLED_MS;
    this.#signature = isSettled ? signature : null;
    return digest;
  }
}

function unpackFinding(finding: Finding): string | null {
  if ('error' in finding) throw finding.error;
  return finding.digest;
}
