/**
 * `template sync` from a storage: replaces a local template, `templates/<group>/<name>/`, by the provider's latest
 * version.
 */
import type { Part } from '../../loop/lifecycle.js';
import { templateUnknown } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { TemplateLibrary } from '../library/library.js';
import type { TemplateDirectory } from '../library/template-directory.js';
import { removeTree } from '../tree/remove-tree.js';
import type { StorageDownloads } from './storage-download.js';
import type { StorageLibrary } from './storage-library.js';
import { storedFields } from './storage-provider.js';

interface StorageSyncOptions {
  readonly downloads: StorageDownloads;
  readonly stored: StorageLibrary;
  readonly local: Pick<TemplateDirectory, 'replaceBy'>;
  readonly library: Pick<TemplateLibrary, 'digest'>;
  readonly logger: Logger;
}

export interface SyncedTemplate {
  readonly files: number;
  readonly bytes: number;
  readonly digest: string;
}

export class StorageSync implements Part {
  readonly #options: StorageSyncOptions;
  readonly #stopped = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  constructor(options: StorageSyncOptions) {
    this.#options = options;
  }

  start(): void {}

  /** Ends downloads under way. Idempotent. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    await Promise.allSettled(this.#running);
  }

  /**
   * Replaces the whole template or nothing of it; its former files are gone afterwards. Instances that take the
   * template from the storage itself get the latest version at their next start. Throws DRV_STORAGE_UNKNOWN,
   * DRV_TEMPLATE_UNKNOWN, DRV_STORAGE_FAILED, and the errors of checking and writing a template.
   */
  fromStorage(group: string, name: string, storage: string): Promise<SyncedTemplate> {
    const syncing = this.#sync(group, name, storage).finally(() => this.#running.delete(syncing));
    this.#running.add(syncing);
    return syncing;
  }

  async #sync(group: string, name: string, storage: string): Promise<SyncedTemplate> {
    const { downloads, stored, local, library, logger } = this.#options;
    const template = { storage, group, name };
    const { signal } = this.#stopped;
    await downloads.version(template, signal);
    const { directory, files, bytes } = await downloads.fetch(template, signal);
    try {
      await local.replaceBy(group, name, directory);
    } finally {
      await removeTree(directory);
    }
    stored.refresh((copy) => copy.storage === storage && copy.group === group && copy.name === name);
    const digest = await library.digest(group, name);
    if (digest === null) throw templateUnknown(`template ${group}/${name} was removed at the same time`);
    logger.info(
      { ...storedFields(template), files, bytes, digest },
      `template ${group}/${name} replaced by that of storage ${storage}: ${files} files, ${bytes} bytes`,
    );
    return { files, bytes, digest };
  }
}
