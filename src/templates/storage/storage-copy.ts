/**
 * The master's copy of one template of one storage. It answers from the disk, also while it asks the provider. It asks
 * when the copy is missing, was last compared over a minute ago, or is not trusted any more.
 *
 * ```
 * (needed) ---> asking ---same version---> copied --(needed, a minute later)--> asking
 *               |  \---another version--> downloading ---> copied
 *               v failed                     v failed
 *         waiting (1 s, doubled, 60 s at most), then as needed; a copy on disk is used meanwhile
 * ```
 */
import { mkdir, readFile, rename, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { syncPath } from '../../files/sync-path.js';
import { ignoreMissing, toWriteError } from '../../files/system-error.js';
import type { Backoff } from '../../loop/backoff.js';
import type { TimerHandle } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';
import { DroverError } from '../../model/errors.js';
import { attempt } from '../../model/plain/attempt.js';
import type { Ambient } from '../../telemetry/ambient.js';
import { removeTree } from '../tree/remove-tree.js';
import type { TreePlace } from '../tree/tree.js';
import { TreeDigest } from '../tree/tree-digest.js';
import type { StorageDownloads } from './storage-download.js';
import { type StoredTemplate, storedFields, storedLabel } from './storage-provider.js';

/** A version that was compared this recently counts as the latest. */
const TRUST_MS = 60_000;
/** How long the feed of a node waits for a look that it has started at the provider. */
const PATIENCE_MS = 200;

const versionFileSchema = z.object({ version: z.string() });

interface StorageCopyOptions extends Ambient {
  readonly template: StoredTemplate;
  /** `data/storages/<key>/<group>/<name>`. */
  readonly directory: string;
  readonly downloads: StorageDownloads;
  readonly backoff: Backoff;
  readonly signal: AbortSignal;
  /** Called when `digest` may give another answer. */
  readonly onChange: () => void;
}

export class StorageCopy {
  readonly template: StoredTemplate;
  readonly #options: StorageCopyOptions;
  /** The place of the tree. */
  readonly place: TreePlace;
  readonly #tree: TreeDigest;
  /** The monotonic time before which the provider is not asked. */
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | undefined;
  #isDownloading = false;
  /** True when an operator asked for the latest version and no look has ended since. */
  #isAskedFor = false;
  #failure: DroverError | undefined;
  #retry: TimerHandle | undefined;

  constructor(options: StorageCopyOptions) {
    this.#options = options;
    this.template = options.template;
    this.place = { root: options.directory, label: storedLabel(options.template) };
    this.#tree = new TreeDigest({ place: this.place, clock: options.clock });
  }

  /** The digest that was found last, without a look at the disk. */
  get last(): string | null {
    return this.#tree.last;
  }

  /**
   * The digest to install. It hardly waits for the provider: while the provider is asked, the copy on disk is the
   * answer, `news` says why it may change, and `onChange` is called afterwards. While there is no copy it throws
   * DRV_TEMPLATE_PENDING, or the provider's failure.
   */
  async digest(): Promise<string> {
    if (this.#looking === undefined && this.#options.clock.monotonic() >= this.#nextLookAt)
      await this.#settledSoon(this.#look());
    if (DroverError.is(this.#failure, 'DRV_TEMPLATE_UNKNOWN')) throw this.#failure;
    const digest = await this.#tree.read(this.#options.signal);
    if (digest !== null) return digest;
    if (this.#looking !== undefined) throw this.#pending();
    // Another program removed the tree: the next call downloads it again.
    if (this.#failure === undefined) this.distrust();
    throw this.#failure ?? this.#pending();
  }

  /**
   * Why `digest` may soon have a newer answer; undefined: no look is under way. Also undefined when the storage failed
   * at the last look: callers must not wait for it again and again.
   */
  get news(): string | undefined {
    if (this.#looking === undefined || (this.#failure !== undefined && !this.#isAskedFor)) return undefined;
    return this.#pending().message;
  }

  /** The digest of the tree on disk, whatever the provider says; null when there is none. */
  digestOnDisk(): Promise<string | null> {
    return this.#tree.read(this.#options.signal);
  }

  /** Makes the next `digest` ask the provider. */
  distrust(): void {
    this.#nextLookAt = Number.NEGATIVE_INFINITY;
    this.#isAskedFor = true;
  }

  /** Resolves when no look is under way; abort the signal first. */
  async stop(): Promise<void> {
    this.#retry?.cancel();
    await this.#looking;
  }

  /** Waits a moment for the look, so that a fast provider causes neither a long delay nor a short-lived status. */
  async #settledSoon(looking: Promise<void>): Promise<void> {
    const late = new AbortController();
    await Promise.race([looking, pause(this.#options.clock, PATIENCE_MS, late.signal)]);
    late.abort();
  }

  #look(): Promise<void> {
    const { onChange, signal } = this.#options;
    this.#retry?.cancel();
    const looking = this.#refresh()
      .then(
        () => this.#succeeded(),
        (error: unknown) => this.#failed(error),
      )
      .finally(() => {
        this.#looking = undefined;
        this.#isDownloading = false;
        this.#isAskedFor = false;
        if (!signal.aborted) onChange();
      });
    this.#looking = looking;
    return looking;
  }

  async #refresh(): Promise<void> {
    const { downloads, template, signal } = this.#options;
    await this.#touch();
    const version = await downloads.version(template, signal);
    if (version === (await this.#versionOnDisk())) return;
    this.#isDownloading = true;
    this.#options.onChange();
    const startedAt = this.#options.clock.monotonic();
    const { directory, files, bytes } = await downloads.fetch(template, signal);
    await this.#replace(directory, version);
    const seconds = ((this.#options.clock.monotonic() - startedAt) / 1000).toFixed(1);
    this.#options.logger.info(
      { ...storedFields(template), files, bytes },
      `${this.place.label} downloaded: ${files} files, ${bytes} bytes, ${seconds} s`,
    );
  }

  /**
   * Moves the downloaded tree into place, and writes the version last: if the process is killed in between,
   * the new tree has no version and is downloaded again.
   */
  async #replace(downloaded: string, version: string): Promise<void> {
    const { directory } = this.#options;
    const parent = dirname(directory);
    const away = `${downloaded}-old`;
    try {
      await mkdir(parent, { recursive: true, mode: 0o700 });
      await rename(directory, away).catch(ignoreMissing);
      await rename(downloaded, directory);
      await syncPath(parent);
      // The reader takes a torn note for a missing one, so the write need not be atomic.
      await writeFile(versionFileOf(directory), JSON.stringify({ version }), { mode: 0o600 });
    } finally {
      this.#tree.distrust();
      await removeTree(downloaded);
      await removeTree(away);
    }
  }

  /** The version of the tree on disk; null when the tree or the note of its version is missing. */
  async #versionOnDisk(): Promise<string | null> {
    const { directory, signal } = this.#options;
    this.#tree.distrust();
    if ((await this.#tree.read(signal).catch(() => null)) === null) return null;
    const text = await readFile(versionFileOf(directory), 'utf8').catch(() => '');
    return attempt(() => versionFileSchema.parse(JSON.parse(text)).version, null);
  }

  /** Keeps the time of the last need as the note's modification time, so that it outlives the process. */
  async #touch(): Promise<void> {
    const now = this.#options.clock.now() / 1000;
    await utimes(versionFileOf(this.#options.directory), now, now).catch(() => undefined);
  }

  #succeeded(): void {
    const { backoff, clock, logger } = this.#options;
    this.#nextLookAt = clock.monotonic() + TRUST_MS;
    if (this.#failure !== undefined)
      logger.info(storedFields(this.#options.template), `${this.place.label} is there again`);
    this.#failure = undefined;
    backoff.clear(this.#options.directory);
  }

  #failed(error: unknown): void {
    const { backoff, clock, directory, logger, onChange, signal, template } = this.#options;
    if (signal.aborted) return;
    const failure = asDroverError(error, this.place.label);
    const delayMs = backoff.next(directory);
    this.#failure = failure;
    this.#nextLookAt = clock.monotonic() + delayMs;
    logger.warn(
      { ...storedFields(template), code: failure.code, err: failure.cause },
      `${failure.message}; tried again in ${(delayMs / 1000).toFixed(1)} s if it is needed then`,
    );
    // After the delay, `onChange` makes waiting callers ask for the digest again; that call starts the next try.
    this.#retry = clock.setTimer(delayMs, onChange);
  }

  #pending(): DroverError {
    const what = this.#isDownloading ? 'is being downloaded' : 'is being compared with the latest version';
    return new DroverError('DRV_TEMPLATE_PENDING', `${this.place.label} ${what}`);
  }
}

/** The note's path: beside the tree, under a name that no template can have. */
export function versionFileOf(directory: string): string {
  return join(dirname(directory), `.${basename(directory)}.version`);
}

/** Wraps a system error without its message, which may contain a path. */
function asDroverError(error: unknown, label: string): DroverError {
  const known = toWriteError(error, label);
  return known instanceof DroverError
    ? known
    : new DroverError('DRV_STORAGE_FAILED', `${label} cannot be kept; the log says why`, { cause: error });
}
