import { type Part, RunningParts } from '../loop/lifecycle.js';
import type { ConfigurationWrites } from '../model/plain/configuration-writes.js';
import type { ClusterSyncReport } from '../model/template.js';
import type { Ambient } from '../telemetry/ambient.js';
import { GitTemplates } from './library/git-templates.js';
import { TemplateLibrary } from './library/library.js';
import { LocalTemplates, type Noted } from './library/local-templates.js';
import { StorageDownloads } from './storage/storage-download.js';
import { StorageLibrary } from './storage/storage-library.js';
import type { StorageProviders } from './storage/storage-provider.js';
import { StorageSync, type SyncedTemplate } from './storage/storage-sync.js';
import { ClusterSync, type ClusterSyncOptions } from './sync/cluster-sync.js';
import type { SyncRun } from './sync/sync-run.js';
import { type SharedTemplates, TemplateSources } from './template-sources.js';

interface MasterTemplatesOptions extends Ambient {
  readonly nodeId: string;
  /** The setting `configurationWrites`; default: as git decides. */
  readonly writes?: ConfigurationWrites | undefined;
  readonly paths: {
    readonly templates: string;
    readonly uploads: string;
    readonly downloads: string;
    readonly storages: string;
  };
  readonly providers: StorageProviders;
  readonly maxUploadMB: number;
  /** See `LocalTemplatesOptions`. */
  readonly afterWrite: (group: string, name: string) => Promise<string | undefined>;
  /** See `TemplateSourcesOptions`. */
  readonly shared: () => SharedTemplates | undefined;
  /** Called only at a sync, because the master is built after its templates. */
  readonly nodes: ClusterSyncOptions['nodes'];
  readonly random: () => number;
}

export class MasterTemplates implements Part {
  readonly local: LocalTemplates;
  readonly sources: TemplateSources;
  readonly library: TemplateLibrary;
  readonly git: GitTemplates;
  readonly #downloads: StorageDownloads;
  readonly #stored: StorageLibrary;
  readonly #storageSync: StorageSync;
  readonly #clusterSync: ClusterSync;
  readonly #running = new RunningParts();

  constructor(options: MasterTemplatesOptions) {
    const { paths, providers, maxUploadMB, afterWrite, shared, nodes, clock, random, logger } = options;
    this.git = new GitTemplates({ ...options, directory: paths.templates });
    const library = new TemplateLibrary(paths.templates, clock, logger);
    this.library = library;
    this.local = new LocalTemplates({
      directory: paths.templates,
      uploads: paths.uploads,
      library,
      maxUploadMB,
      logger,
      beforeWrite: (group, name) =>
        this.git.requireWritable(group, name, shared()?.record(`${group}/${name}`)),
      afterWrite,
    });
    this.#downloads = new StorageDownloads({ providers, directory: paths.downloads, clock });
    const downloads = this.#downloads;
    this.#stored = new StorageLibrary({ directory: paths.storages, downloads, clock, random, logger });
    const stored = this.#stored;
    this.sources = new TemplateSources({ local: library, stored, providers, shared });
    this.#storageSync = new StorageSync({ downloads, stored, local: this.local.directory, library, logger });
    this.#clusterSync = new ClusterSync({ templates: this.sources, stored, nodes, clock, logger });
  }

  async start(): Promise<void> {
    // The part that starts first stops last. The sync to the cluster waits for digests, which end when the libraries
    // stop.
    await this.#running.start(this.#clusterSync);
    // The local templates first restore what a killed process left half-done; then the parts that read the directory
    // start.
    await this.git.start();
    await this.#running.start(this.local);
    await this.#running.start(this.library);
    await this.#downloads.start();
    await this.#running.start(this.#stored);
    this.#running.onStop(() => this.sources.stop());
    await this.#running.start(this.#storageSync);
  }

  async stop(): Promise<void> {
    await this.#running.stop();
  }

  /** Replaces a local template by that of a storage. Throws as `StorageSync.fromStorage` does. */
  fromStorage(group: string, name: string, storage: string): Promise<SyncedTemplate & Noted> {
    return this.local.written(group, name, () => this.#storageSync.fromStorage(group, name, storage));
  }

  /** See `ClusterSync.toCluster`. */
  toCluster(pattern: string): Promise<SyncRun> {
    return this.#clusterSync.toCluster(pattern);
  }

  /** The report of the latest sync to the cluster; undefined: there was none. */
  latestSync(): ClusterSyncReport | undefined {
    return this.#clusterSync.latest;
  }
}
