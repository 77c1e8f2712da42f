/**
 * The master's side of partial fetches: gives the manifest of a digest, and any of its files. A tree is read once for
 * all wrappers that ask; a few trees are remembered.
 */
import { type DroverError, invalidRequest, templateUnknown } from '../../model/errors.js';
import type { FileRange } from '../../model/template.js';
import { digestOf, type HashedItem, hashTree } from '../tree/digest.js';
import { TreeChanged, type TreeEntry, type TreePlace, walkTree } from '../tree/tree.js';
import { packTree } from './bundle.js';
import { encodeManifest } from './manifest.js';

/** The limit for all remembered trees together. */
const MAX_KEPT_ENTRIES = 200_000;

interface ReadTree {
  readonly place: TreePlace;
  readonly entries: readonly TreeEntry[];
  readonly items: readonly HashedItem[];
}

export class TreeManifests {
  readonly #locate: (digest: string) => Promise<TreePlace | undefined>;
  readonly #signal: AbortSignal;
  /** The remembered trees, in order of their last use. */
  readonly #trees = new Map<string, Promise<ReadTree>>();

  /**
   * `locate` answers the place of the tree with a digest; undefined when no template has it any more. `signal` ends
   * reading.
   */
  constructor(locate: (digest: string) => Promise<TreePlace | undefined>, signal: AbortSignal) {
    this.#locate = locate;
    this.#signal = signal;
  }

  /** The manifest of the tree. Throws DRV_TEMPLATE_UNKNOWN when no template has this digest any more. */
  async *manifest(digest: string): AsyncGenerator<Buffer> {
    yield* encodeManifest((await this.#tree(digest)).items);
  }

  /**
   * A tar stream of the files at these places of the manifest. Throws DRV_TEMPLATE_UNKNOWN, and DRV_REQUEST_INVALID for
   * places out of order or out of range. Ends with an error when a file changes meanwhile.
   */
  async *files(digest: string, ranges: readonly FileRange[]): AsyncGenerator<Buffer> {
    const { place, entries } = await this.#tree(digest);
    try {
      yield* packTree(place, [...filesIn(entries, ranges)], this.#signal);
    } catch (error) {
      if (error instanceof TreeChanged) this.#trees.delete(digest);
      throw error;
    }
  }

  async #tree(digest: string): Promise<ReadTree> {
    const known = this.#trees.get(digest);
    const tree = known ?? this.#read(digest);
    this.#trees.delete(digest);
    this.#trees.set(digest, tree);
    if (known === undefined)
      tree.then(
        () => this.#forgetOldest(digest),
        () => this.#trees.delete(digest),
      );
    return tree;
  }

  async #read(digest: string): Promise<ReadTree> {
    const place = await this.#locate(digest);
    if (place === undefined) throw unknownTree(digest);
    const entries = await walkTree(place, this.#signal);
    const items = await hashTree(place, entries, this.#signal);
    if ((await digestOf(items)) !== digest) throw unknownTree(digest);
    return { place, entries, items };
  }

  /** Forgets the trees that were unused for longest, but keeps the newest, however large it is. */
  async #forgetOldest(newest: string): Promise<void> {
    const sizes = await Promise.all(
      [...this.#trees].map(async ([digest, tree]) => ({
        digest,
        size: (await tree.catch(() => undefined))?.entries.length ?? 0,
      })),
    );
    let total = sizes.reduce((sum, { size }) => sum + size, 0);
    for (const { digest, size } of sizes) {
      if (total <= MAX_KEPT_ENTRIES) return;
      if (digest === newest) continue;
      this.#trees.delete(digest);
      total -= size;
    }
  }
}

function* filesIn(entries: readonly TreeEntry[], ranges: readonly FileRange[]): Generator<TreeEntry> {
  let next = 0;
  for (const [first, count] of ranges) {
    if (first < next || first + count > entries.length)
      throw invalidRequest('the request names files that the template does not have');
    next = first + count;
    for (const entry of entries.slice(first, next)) if (entry.kind === 'file') yield entry;
  }
}

/** The DRV_TEMPLATE_UNKNOWN of a digest. */
export function unknownTree(digest: string): DroverError {
  return templateUnknown(`no template has the digest ${digest.slice(0, 12)} any more`);
}
