/** Gives out all templates of a master, local ones and those of storages, as one source for feed and channel. */
import { LOCAL_STORAGE } from '../model/template.js';
import type { TemplateLibrary, TemplateListener } from './library/library.js';
import type { StoredGroup } from './storage/storage-groups.js';
import type { StorageLibrary } from './storage/storage-library.js';
import type { StorageProviders } from './storage/storage-provider.js';
import { packWhole } from './transfer/bundle.js';
import { SharedStream } from './transfer/shared-stream.js';
import { TreeManifests, unknownTree } from './transfer/tree-manifests.js';
import type { TreePlace } from './tree/tree.js';
import type { TemplateView } from './view/template-view.js';

/** The templates that several masters share. */
export type SharedTemplates = Pick<TemplateView, 'names' | 'inForce' | 'elsewhere' | 'onChange' | 'record'>;

interface TemplateSourcesOptions {
  readonly local: TemplateLibrary;
  readonly stored: StorageLibrary;
  readonly providers: StorageProviders;
  /** The templates that masters share. Absent, or answers undefined: this is the only master. */
  readonly shared?: () => SharedTemplates | undefined;
}

export class TemplateSources {
  readonly #options: TemplateSourcesOptions;
  readonly #stopped = new AbortController();
  /** The whole trees that are being read, by digest. */
  readonly #bundles = new Map<string, SharedStream>();
  /** Gives out single files of trees. */
  readonly parts: TreeManifests;

  constructor(options: TemplateSourcesOptions) {
    this.#options = options;
    this.parts = new TreeManifests((digest) => this.#locate(digest), this.#stopped.signal);
  }

  /** The local groups and the names of their templates, both in order; a new map at every change. */
  groups(): ReadonlyMap<string, readonly string[]> {
    const { local, shared } = this.#options;
    const groups = new Map(local.groups());
    const missing = [...(shared?.()?.names() ?? [])].map((key) => key.split('/'));
    for (const [group = '', name = ''] of missing) {
      const names = groups.get(group) ?? [];
      if (!names.includes(name)) groups.set(group, [...names, name].sort());
    }
    return missing.length === 0 ? groups : new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** See `TemplateLibrary.rescan`. */
  rescan(): Promise<void> {
    return this.#options.local.rescan();
  }

  /** The keys of the storages, without `local`. */
  storages(): readonly string[] {
    return this.#options.providers.keys();
  }

  /** The templates of a group in all storages. See `StorageLibrary.group`. */
  storedGroup(group: string): StoredGroup {
    return this.#options.stored.group(group);
  }

  /** See `TemplateLibrary.digest` and `StorageLibrary.digest`. */
  async digest(group: string, name: string, storage: string): Promise<string | null> {
    const { local, stored, shared } = this.#options;
    if (storage !== LOCAL_STORAGE) return await stored.digest({ storage, group, name });
    const here = await local.digest(group, name);
    const others = shared?.();
    return others === undefined ? here : others.inForce(`${group}/${name}`, here);
  }

  /** The digest as it is known now, without a word to a storage; null: it is not known, or there is no such template. */
  async known(group: string, name: string, storage: string): Promise<string | null> {
    if (storage !== LOCAL_STORAGE) return this.#options.stored.last({ storage, group, name });
    return await this.digest(group, name, storage).catch(() => null);
  }

  /** See `StorageLibrary.news`. Undefined for a local template: its digest always is that of its files now. */
  news(group: string, name: string, storage: string): string | undefined {
    return storage === LOCAL_STORAGE ? undefined : this.#options.stored.news({ storage, group, name });
  }

  /**
   * The tar stream of the tree that has this digest now. Callers at the same time share one packing. Throws
   * DRV_TEMPLATE_UNKNOWN when no tree has it.
   */
  openBundle(digest: string): AsyncIterable<Buffer> {
    const known = this.#bundles.get(digest);
    if (known?.isJoinable === true) return known.read();
    const onUnused = (): void => {
      if (this.#bundles.get(digest) === shared) this.#bundles.delete(digest);
    };
    const shared = new SharedStream(() => this.#open(digest), onUnused);
    this.#bundles.set(digest, shared);
    return shared.read();
  }

  async *#open(digest: string): AsyncGenerator<Buffer> {
    const place = await this.#locate(digest);
    const others = this.#options.shared?.();
    if (place !== undefined) yield* packWhole(place, this.#stopped.signal);
    else if (others !== undefined) yield* others.elsewhere(digest);
    else throw unknownTree(digest);
  }

  /** Ends the streams to wrappers. Idempotent. */
  stop(): void {
    this.#stopped.abort();
  }

  /**
   * The place of the tree with this digest. It looks at local trees first, unless a storage's copy had the
   * digest when it was last read.
   */
  async #locate(digest: string): Promise<TreePlace | undefined> {
    const { local, stored } = this.#options;
    const isStored = stored.hasSeen(digest);
    return (isStored ? undefined : await local.locate(digest)) ?? (await stored.locate(digest));
  }

  /**
   * Calls `listener` when a template changed, or when a missing template may be there. Returns the function that
   * unsubscribes.
   */
  onChange(listener: TemplateListener): () => void {
    const { local, stored, shared } = this.#options;
    const others = shared?.();
    const unsubscribe = [local, stored, others].flatMap((source) => source?.onChange(listener) ?? []);
    return () => {
      for (const end of unsubscribe) end();
    };
  }
}
