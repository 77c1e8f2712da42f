/**
 * Calls storage providers, which are foreign code. Every call is bounded in time, and every failure becomes one error
 * for an operator. A downloaded tree is returned only when it is complete, checked and on disk. The caller moves it to
 * its place.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import PQueue from 'p-queue';
import { isDiskError, toWriteError } from '../../files/system-error.js';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import { DroverError, messageOf, templateUnknown } from '../../model/errors.js';
import { nameSchema } from '../../model/names.js';
import { unknownStorage } from '../library/choose.js';
import type { BundleLimits } from '../transfer/bundle.js';
import { checkTemplateName } from '../tree/file-path.js';
import { removeTree } from '../tree/remove-tree.js';
import { syncTree } from '../tree/sync-tree.js';
import { TREE_LIMITS, type TreeEntry, walkTree } from '../tree/tree.js';
import {
  groupLabel,
  type StorageProvider,
  type StorageProviders,
  type StoredTemplate,
  storedLabel,
} from './storage-provider.js';

/** The limit for an answer. It is short, because an instance may be waiting. */
const ANSWER_LIMIT_MS = 15_000;
const DOWNLOAD_LIMIT_MS = 3_600_000;
/** How many downloads run at the same time; each may use several connections. */
const DOWNLOADS_AT_ONCE = 4;
const MAX_VERSION_CHARS = 1024;
const MAX_MESSAGE_CHARS = 500;
const UNFINISHED = 'download-';

interface StorageDownloadsOptions {
  readonly providers: StorageProviders;
  /** A private directory on the file system of the copies. It is emptied at the start. */
  readonly directory: string;
  readonly clock: Clock;
  readonly limits?: BundleLimits;
  readonly downloadLimitMs?: number;
}

/** A whole tree on disk. The caller moves it into place or removes it. */
interface DownloadedTree {
  readonly directory: string;
  readonly files: number;
  readonly bytes: number;
}

export class StorageDownloads {
  readonly #options: StorageDownloadsOptions;
  readonly #limits: BundleLimits;
  readonly #queue = new PQueue({ concurrency: DOWNLOADS_AT_ONCE });

  constructor(options: StorageDownloadsOptions) {
    this.#options = options;
    this.#limits = options.limits ?? TREE_LIMITS;
  }

  /** Makes the directory and removes the rests of a killed process. Call it once, first. */
  async start(): Promise<void> {
    const { directory } = this.#options;
    await mkdir(directory, { recursive: true, mode: 0o700 });
    for (const name of await readdir(directory))
      if (name.startsWith(UNFINISHED)) await removeTree(join(directory, name));
  }

  /** The keys of the registered storages, sorted. */
  storages(): readonly string[] {
    return this.#options.providers.keys();
  }

  /** Checks the names. Throws DRV_REQUEST_INVALID, DRV_STORAGE_UNKNOWN. */
  check(template: StoredTemplate): void {
    this.#providerOf(template);
  }

  /**
   * The version that the provider has now. Throws DRV_STORAGE_UNKNOWN, DRV_STORAGE_FAILED, and DRV_TEMPLATE_UNKNOWN
   * when it has no such template.
   */
  async version(template: StoredTemplate, signal: AbortSignal): Promise<string> {
    const provider = this.#providerOf(template);
    const { group, name, storage } = template;
    const label = storedLabel(template);
    const version: unknown = await this.#bounded(label, ANSWER_LIMIT_MS, signal, (inner) =>
      provider.version(group, name, inner),
    );
    if (version === null) throw templateUnknown(`storage ${storage} has no template ${group}/${name}`);
    if (typeof version !== 'string' || version === '' || version.length > MAX_VERSION_CHARS)
      throw failed(label, `its version is not a text of 1 to ${MAX_VERSION_CHARS} characters`);
    return version;
  }

  /**
   * The names of the templates in a group, in order; none where the provider cannot tell. Names that no template can
   * have are left out. Throws DRV_STORAGE_FAILED.
   */
  async list(storage: string, group: string, signal: AbortSignal): Promise<readonly string[]> {
    const provider = this.#options.providers.get(storage);
    if (provider?.list === undefined) return [];
    const label = groupLabel(storage, group);
    const listed: unknown = await this.#bounded(label, ANSWER_LIMIT_MS, signal, (inner) =>
      Promise.resolve(provider.list?.(group, inner)),
    );
    if (!Array.isArray(listed)) throw failed(label, 'its templates are not a list of names');
    return [...new Set(listed.flatMap((name) => nameSchema.safeParse(name).data ?? []))].sort();
  }

  /**
   * Downloads the tree that the provider has now. Throws like `version`, and DRV_TEMPLATE_UNSAFE for a tree that no
   * template can have, DRV_DISK_WRITE_FAILED. The caller moves or removes the tree.
   */
  fetch(template: StoredTemplate, signal: AbortSignal): Promise<DownloadedTree> {
    const provider = this.#providerOf(template);
    return this.#queue.add(() => this.#fetch(template, provider, signal));
  }

  async #fetch(
    template: StoredTemplate,
    provider: StorageProvider,
    signal: AbortSignal,
  ): Promise<DownloadedTree> {
    const directory = join(this.#options.directory, UNFINISHED + randomBytes(8).toString('hex'));
    const { group, name } = template;
    const limitMs = this.#options.downloadLimitMs ?? DOWNLOAD_LIMIT_MS;
    try {
      await mkdir(directory);
      await this.#bounded(storedLabel(template), limitMs, signal, (inner) =>
        provider.download(group, name, directory, inner),
      );
      const entries = await walkTree({ root: directory, label: storedLabel(template) }, signal);
      const bytes = this.#checkSize(template, entries);
      await syncTree(directory, entries, signal);
      return { directory, files: entries.filter(({ kind }) => kind === 'file').length, bytes };
    } catch (error) {
      await removeTree(directory).catch(() => undefined);
      signal.throwIfAborted();
      throw toWriteError(error, storedLabel(template));
    }
  }

  #checkSize(template: StoredTemplate, entries: readonly TreeEntry[]): number {
    const bytes = entries.reduce((sum, { size }) => sum + size, 0);
    if (entries.length > this.#limits.maxEntries || bytes > this.#limits.maxBytes)
      throw failed(
        storedLabel(template),
        `it holds ${entries.length} entries and ${bytes} bytes; ${this.#limits.maxEntries} and ${this.#limits.maxBytes} are allowed`,
      );
    return bytes;
  }

  #providerOf({ storage, group, name }: StoredTemplate): StorageProvider {
    checkTemplateName(group, name);
    const { providers } = this.#options;
    const provider = providers.get(storage);
    if (provider === undefined)
      throw new DroverError('DRV_STORAGE_UNKNOWN', unknownStorage(storage, providers.keys()));
    return provider;
  }

  async #bounded<T>(
    label: string,
    limitMs: number,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const { clock } = this.#options;
    const expired = (): Error => failed(label, `no answer within ${limitMs / 1000} s`);
    try {
      return await withDeadline({ limitMs, clock, signal, expired }, work);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DroverError || isDiskError(error)) throw error;
      throw failed(label, messageOf(error), error);
    }
  }
}

function failed(label: string, why: string, cause?: unknown): DroverError {
  const line = why.replace(/\s+/g, ' ').slice(0, MAX_MESSAGE_CHARS);
  return new DroverError('DRV_STORAGE_FAILED', `${label} cannot be had: ${line}`, { cause });
}
