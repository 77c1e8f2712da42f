/** Gives out all templates of a master, local ones and those of storages, as one source for feed and channel. */
import { DroverError } from '../model/errors.js';
import { LOCAL_STORAGE } from '../model/template.js';
import type { TemplateLibrary, TemplateListener } from './library/library.js';
import type { StorageLibrary } from './storage/storage-library.js';
import type { StorageProviders } from './storage/storage-provider.js';
import { SharedStream } from './transfer/shared-stream.js';
import { TreeManifests } from './transfer/tree-manifests.js';
import type { TreePlace } from './tree/tree.js';

export interface TemplateSourcesOptions {
  readonly local: TemplateLibrary;
  readonly stored: StorageLibrary;
  readonly providers: StorageProviders;
}

export class TemplateSources {
  readonly #options: TemplateSourcesOptions;
  readonly #stopped = new AbortController();
  /** Whole trees that are being read, by digest. */
  readonly #bundles = new Map<string, SharedStream>();
  /** Single files of trees. */
  readonly parts: TreeManifests;

  constructor(options: TemplateSourcesOptions) {
    this.#options = options;
    this.parts = new TreeManifests({
      locate: (digest) => this.#locate(digest),
      signal: this.#stopped.signal,
    });
  }

  /** Local groups and the names of their templates, both in order; a new map at every change. */
  groups(): ReadonlyMap<string, readonly string[]> {
    return this.#options.local.groups();
  }

  /** See `TemplateLibrary.rescan`. */
  rescan(): Promise<void> {
    return this.#options.local.rescan();
  }

  /** Keys of the storages, without `local`. */
  storages(): readonly string[] {
    return this.#options.providers.keys();
  }

  /** See `TemplateLibrary.digest` and `StorageLibrary.digest`. */
  async digest(group: string, name: string, storage: string): Promise<string | null> {
    const { local, stored } = this.#options;
    return storage === LOCAL_STORAGE
      ? await local.digest(group, name)
      : await stored.digest({ storage, group, name });
  }

  /** See `StorageLibrary.news`. A local template has none: its digest is that of its files now. */
  news(group: string, name: string, storage: string): string | undefined {
    return storage === LOCAL_STORAGE ? undefined : this.#options.stored.news({ storage, group, name });
  }

  /**
   * The tar stream of the tree that has this digest now, packed once for all callers at the same time. Throws
   * DRV_TEMPLATE_UNKNOWN when no tree has it.
   */
  openBundle(digest: string): AsyncIterable<Buffer> {
    const known = this.#bundles.get(digest);
    if (known?.isJoinable === true) return known.read();
    const shared: SharedStream = new SharedStream({
      open: () => this.#open(digest),
      onUnused: () => {
        if (this.#bundles.get(digest) === shared) this.#bundles.delete(digest);
      },
    });
    this.#bundles.set(digest, shared);
    return shared.read();
  }

  async *#open(digest: string): AsyncGenerator<Buffer> {
    const { local, stored } = this.#options;
    if (!stored.hasSeen(digest)) {
      try {
        yield* local.openBundle(digest);
        return;
      } catch (error) {
        // Thrown before the first byte. A storage's copy that was not read since the start may have the digest.
        if (!DroverError.is(error, 'DRV_TEMPLATE_UNKNOWN')) throw error;
      }
    }
    yield* stored.openBundle(digest);
  }

  /** Ends the streams to wrappers. Idempotent. */
  stop(): void {
    this.#stopped.abort();
  }

  async #locate(digest: string): Promise<TreePlace | undefined> {
    const { local, stored } = this.#options;
    const isStored = stored.hasSeen(digest);
    return (isStored ? undefined : await local.locate(digest)) ?? (await stored.locate(digest));
  }

  /**
   * Calls `listener` when a template changed, or when a missing one may be there. Returns the function that
   * unsubscribes.
   */
  onChange(listener: TemplateListener): () => void {
    const unsubscribe = [this.#options.local.onChange(listener), this.#options.stored.onChange(listener)];
    return () => {
      for (const end of unsubscribe) end();
    };
  }
}
