/**
 * Puts a tree into the cache's directory, whole or not at all: fetches it beside its place, checks it, writes it
 * through to the disk, and renames it into place.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncPath } from '../../files/sync-path.js';
import { toWriteError } from '../../files/system-error.js';
import { DroverError } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import { removeTree } from '../tree/remove-tree.js';
import type { BundleLimits } from './bundle.js';
import type { Base } from './delta.js';
import type { PackThreads } from './pack-threads.js';
import { Packs } from './packs.js';
import { type FetchedTree, fetchMissing, fetchWhole, type TreeOffer } from './tree-fetch.js';
import { nameOfTree, writeRecord } from './tree-record.js';

/** The beginning of the names of unfinished trees. */
const UNFINISHED = '.unfinished-';

interface TreeIntakeOptions {
  readonly directory: string;
  readonly threads: PackThreads;
  readonly limits: BundleLimits;
  readonly logger: Logger;
}

/** A tree in its place, and the cached trees that proved damaged meanwhile. */
interface TakenTree extends FetchedTree {
  readonly damaged: ReadonlySet<string>;
}

export class TreeIntake {
  readonly #options: TreeIntakeOptions;

  constructor(options: TreeIntakeOptions) {
    this.#options = options;
  }

  /**
   * Fetches the files that no tree of `bases` has. Where nothing is shared, or the files cannot be used, it fetches the
   * whole tree. Throws DRV_TEMPLATE_CORRUPT, DRV_DISK_WRITE_FAILED and the errors of the offer.
   */
  async take(
    digest: string,
    offer: TreeOffer,
    bases: AsyncIterable<Base>,
    signal: AbortSignal,
  ): Promise<TakenTree> {
    const damaged = new Set<string>();
    const { limits, threads } = this.#options;
    const request = { digest, offer, limits, threads, signal };
    const missing = await this.#try(digest, signal, (packs) =>
      fetchMissing({ ...request, packs }, bases, damaged),
    );
    const taken =
      missing ?? (await this.#place(digest, signal, (packs) => fetchWhole({ ...request, packs })));
    return { ...taken, damaged };
  }

  /** A new path for an unfinished or removed tree of this digest; never the same twice. */
  besideOf(digest: string): string {
    const { directory } = this.#options;
    return join(directory, `${UNFINISHED}${digest.slice(0, 12)}-${randomBytes(6).toString('hex')}`);
  }

  async #try(
    digest: string,
    signal: AbortSignal,
    fetch: (packs: Packs) => Promise<FetchedTree | undefined>,
  ): Promise<FetchedTree | undefined> {
    try {
      return await this.#place(digest, signal, fetch);
    } catch (error) {
      signal.throwIfAborted();
      // The asked master does not have this tree, but passes it on from another master. It can do that only
      // for the whole tree.
      if (DroverError.is(error, 'DRV_TEMPLATE_UNKNOWN')) return undefined;
      if (!DroverError.is(error, 'DRV_TEMPLATE_CORRUPT')) throw error;
      this.#options.logger.warn(
        { digest, reason: error.message },
        `${labelOf(digest)}: ${error.message}; all of it is asked for now`,
      );
      return undefined;
    }
  }

  /**
   * Makes a tree of the files that `fetch` puts into the packs of an empty directory. Undefined: `fetch` brought none.
   */
  async #place<Got extends FetchedTree | undefined>(
    digest: string,
    signal: AbortSignal,
    fetch: (packs: Packs) => Promise<Got>,
  ): Promise<Got> {
    const { directory } = this.#options;
    const beside = this.besideOf(digest);
    const packs = new Packs(beside);
    try {
      await mkdir(beside);
      const fetched = await fetch(packs);
      if (fetched === undefined) await removeUnfinished(packs);
      else {
        await packs.flush();
        await writeRecord(beside, fetched.items);
        await syncPath(beside);
        await rename(beside, join(directory, nameOfTree(digest)));
        await syncPath(directory);
      }
      return fetched;
    } catch (error) {
      await removeUnfinished(packs);
      signal.throwIfAborted();
      throw toWriteError(error, labelOf(digest));
    } finally {
      await packs.close();
    }
  }
}

/** Closes the packs before their directory is removed, so that nothing writes there any more. */
async function removeUnfinished(packs: Packs): Promise<void> {
  await packs.close();
  await removeTree(packs.directory);
}

/** The name of a tree in messages. */
export function labelOf(digest: string): string {
  return `template tree ${digest.slice(0, 12)}`;
}
