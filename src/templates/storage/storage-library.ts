/**
 * The master's copies of templates from storages, `data/storages/<key>/<group>/<name>/`. A copy is downloaded when an
 * instance needs it, compared with the provider at most once a minute, and served to wrappers by digest like a local
 * template. A start removes copies that were not needed for 30 days.
 */
import { lstat, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Backoff } from '../../loop/backoff.js';
import type { Part } from '../../loop/lifecycle.js';
import { nameSchema } from '../../model/names.js';
import type { Ambient } from '../../telemetry/ambient.js';
import type { TemplateListener } from '../library/library.js';
import { removeTree } from '../tree/remove-tree.js';
import type { TreePlace } from '../tree/tree.js';
import { StorageCopy, versionFileOf } from './storage-copy.js';
import type { StorageDownloads } from './storage-download.js';
import { StorageGroups, type StoredGroup } from './storage-groups.js';
import { type StoredTemplate, storedFields, storedLabel } from './storage-provider.js';

const FIRST_RETRY_MS = 1000;
const UNUSED_MS = 30 * 86_400_000;

interface StorageLibraryOptions extends Ambient {
  /** `data/storages`; made when missing. Not the directory of the downloads. */
  readonly directory: string;
  readonly downloads: StorageDownloads;
  readonly random: () => number;
}

export class StorageLibrary implements Part {
  readonly #options: StorageLibraryOptions;
  readonly #stopped = new AbortController();
  readonly #listeners = new Set<TemplateListener>();
  readonly #copies = new Map<string, StorageCopy>();
  readonly #backoff: Backoff;
  readonly #groups: StorageGroups;

  constructor(options: StorageLibraryOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.random, { baseMs: FIRST_RETRY_MS });
    this.#groups = new StorageGroups({
      ...options,
      copied: () => this.copied(),
      signal: this.#stopped.signal,
      onChange: (group) => this.#tell({ group, name: '' }),
    });
  }

  /** Reads the copies on disk; calls no provider. Throws when the directory cannot be made or read. */
  async start(): Promise<void> {
    const { directory, logger } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const template of await this.#templatesOnDisk()) {
      if (await this.#isUnused(template)) {
        await this.#remove(template);
        logger.info(
          storedFields(template),
          `${storedLabel(template)} removed: nothing needed it for 30 days`,
        );
      } else this.#copyOf(template);
    }
  }

  /** Ends downloads under way. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.all([this.#groups, ...this.#copies.values()].map((part) => part.stop()));
  }

  /** The templates of a group in all storages: see `StorageGroups.find`. */
  group(name: string): StoredGroup {
    return this.#groups.find(name);
  }

  /**
   * The digest of the master's copy. It also asks the provider for a newer version, and tells the listeners when that
   * is done. Throws DRV_STORAGE_UNKNOWN, and DRV_TEMPLATE_UNKNOWN when the provider has no such template. While there
   * is no copy yet it throws DRV_TEMPLATE_PENDING; after a failure, DRV_STORAGE_FAILED or the error of checking and
   * writing the tree.
   */
  async digest(template: StoredTemplate): Promise<string> {
    this.#options.downloads.check(template);
    return await this.#copyOf(template).digest();
  }

  /** The digest that the master's copy had when it was last read; null: there is no copy. Asks no provider. */
  last(template: StoredTemplate): string | null {
    return this.#copies.get(keyOf(template))?.last ?? null;
  }

  /** A reason for a person why a newer copy may come soon; undefined: no look is under way, or the storage fails. */
  news(template: StoredTemplate): string | undefined {
    return this.#copies.get(keyOf(template))?.news;
  }

  /**
   * Makes the matching templates ask the provider at the next need. Tells the listeners, so that callers that wait ask
   * at once.
   */
  refresh(isMeant: (template: StoredTemplate) => boolean): void {
    for (const copy of this.#copies.values()) {
      if (!isMeant(copy.template)) continue;
      copy.distrust();
      this.#tell(copy.template);
    }
  }

  /** The templates that this master keeps copies of. */
  copied(): readonly StoredTemplate[] {
    return [...this.#copies].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, { template }]) => template);
  }

  /** True when a copy had this digest when it was last read. */
  hasSeen(digest: string): boolean {
    return [...this.#copies.values()].some(({ last }) => last === digest);
  }

  /** The place of the copy that has this digest now; undefined when there is none. */
  async locate(digest: string): Promise<TreePlace | undefined> {
    const copies = [...this.#copies.values()];
    // Copies that were not read since the master started are looked at too.
    const candidates = copies.filter(({ last }) => last === digest || last === null);
    for (const copy of candidates.toSorted((a, b) => Number(b.last === digest) - Number(a.last === digest)))
      if ((await copy.digestOnDisk().catch(() => null)) === digest) return copy.place;
    return undefined;
  }

  /** Calls `listener` when the answer of `digest` may have changed. Returns the function that unsubscribes. */
  onChange(listener: TemplateListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #copyOf(template: StoredTemplate): StorageCopy {
    const key = keyOf(template);
    const known = this.#copies.get(key);
    if (known !== undefined) return known;
    const { downloads, clock, logger } = this.#options;
    const copy = new StorageCopy({
      template,
      directory: this.#directoryOf(template),
      downloads,
      backoff: this.#backoff,
      clock,
      logger,
      signal: this.#stopped.signal,
      onChange: () => this.#tell(template),
    });
    this.#copies.set(key, copy);
    return copy;
  }

  #tell({ group, name }: Pick<StoredTemplate, 'group' | 'name'>): void {
    if (this.#stopped.signal.aborted) return;
    for (const listener of this.#listeners) listener(group, name);
  }

  #directoryOf({ storage, group, name }: StoredTemplate): string {
    return join(this.#options.directory, storage, group, name);
  }

  async #templatesOnDisk(): Promise<StoredTemplate[]> {
    const { directory } = this.#options;
    const found: StoredTemplate[] = [];
    for (const storage of await namesIn(directory))
      for (const group of await namesIn(join(directory, storage)))
        for (const name of await namesIn(join(directory, storage, group)))
          found.push({ storage, group, name });
    return found;
  }

  async #isUnused(template: StoredTemplate): Promise<boolean> {
    const note = await lstat(versionFileOf(this.#directoryOf(template))).catch(() => undefined);
    return note === undefined || this.#options.clock.now() - note.mtimeMs > UNUSED_MS;
  }

  async #remove(template: StoredTemplate): Promise<void> {
    const directory = this.#directoryOf(template);
    await rm(versionFileOf(directory), { force: true });
    await removeTree(directory);
  }
}

/** The names of directories that can be a storage, group or template. */
async function namesIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && nameSchema.safeParse(entry.name).success)
    .map(({ name }) => name)
    .sort();
}

function keyOf({ storage, group, name }: StoredTemplate): string {
  return `${storage}/${group}/${name}`;
}
