/**
 * Tells the followers of a log when its directory changed, with one watch for all followers of an instance. It uses the
 * system's file notices, or looks every `pollMs` when the system has none left. While the directory does not exist it
 * watches the parent directory.
 */
import { type FSWatcher, lstatSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { type DirectoryChange, type SystemWatch, watchDirectory } from '../files/watch-directory.js';
import { Bell } from '../loop/bell.js';
import { attempt } from '../model/plain/attempt.js';

/**
 * The shortest time between two wakes of a busy log. A wake reads all output since the last wake. Output comes in
 * pieces of 4 KiB, each with a notice; without a rest the readers would be woken for each piece.
 */
const REST_MS = 5;
/**
 * How often the watch looks when the system gives no notices. With the rest above, a line is delayed by less than 100
 * ms.
 */
const POLL_MS = 60;
/** How often the watch looks despite notices, because the system drops some when too many wait. */
const SAFETY_POLL_MS = 5000;

interface LogWatchOptions {
  /** A test's stand-in that gives no notices. */
  readonly watch?: SystemWatch;
  readonly pollMs?: number;
  readonly safetyPollMs?: number;
}

type DirectoryOptions = LogWatchOptions & Required<Pick<LogWatchOptions, 'pollMs' | 'safetyPollMs'>>;

export class LogWatches {
  readonly #options: DirectoryOptions;
  readonly #directories = new Map<string, LogDirectory>();

  constructor(options: LogWatchOptions = {}) {
    this.#options = { pollMs: POLL_MS, safetyPollMs: SAFETY_POLL_MS, ...options };
  }

  /** The number of watched directories. */
  get size(): number {
    return this.#directories.size;
  }

  /** Opens a watch. The first `changed` resolves at once. */
  open(directory: string): LogWatch {
    const known = this.#directories.get(directory);
    const shared = known ?? new LogDirectory(directory, this.#options);
    this.#directories.set(directory, shared);
    const watch: LogWatch = new LogWatch(() => {
      shared.watches.delete(watch);
      if (shared.watches.size > 0) return;
      shared.close();
      this.#directories.delete(directory);
    });
    shared.watches.add(watch);
    return watch;
  }
}

/** The watch of one follower. */
class LogWatch {
  readonly #onClose: () => void;
  #isClosed = false;
  #isChanged = true;
  #isListChanged = true;
  readonly #change = new Bell();

  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  notify(isListChanged: boolean): void {
    this.#isChanged = true;
    this.#isListChanged ||= isListChanged;
    this.#change.ring();
  }

  /**
   * Resolves at the first change since the call before, at once if it happened already, and when `signal` aborts.
   * `isListChanged`: segments may have come or gone. Only one call at a time.
   */
  async changed(signal: AbortSignal): Promise<{ readonly isListChanged: boolean }> {
    if (!this.#isChanged) await this.#change.wait(signal);
    const isListChanged = this.#isListChanged;
    this.#isChanged = false;
    this.#isListChanged = false;
    return { isListChanged };
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#onClose();
  }
}

class LogDirectory {
  readonly watches = new Set<LogWatch>();
  readonly #directory: string;
  readonly #options: DirectoryOptions;
  readonly #safetyTimer: NodeJS.Timeout;
  #own: FSWatcher | undefined;
  /** The watch on the parent directory while this directory does not exist. */
  #above: FSWatcher | undefined;
  #pollTimer: NodeJS.Timeout | undefined;
  #restTimer: NodeJS.Timeout | undefined;
  #cameInRest = false;
  #isListChanged = false;

  constructor(directory: string, options: DirectoryOptions) {
    this.#directory = directory;
    this.#options = options;
    this.#arm();
    this.#safetyTimer = setInterval(() => {
      if (this.#own === undefined) this.#arm();
      this.#notify(true);
    }, this.#options.safetyPollMs).unref();
  }

  close(): void {
    this.#disarm();
    clearInterval(this.#safetyTimer);
    clearTimeout(this.#restTimer);
  }

  #arm(): void {
    this.#disarm();
    this.#own = this.#watchOwn();
    if (this.#own !== undefined) return;
    this.#above = this.#tryWatch(dirname(this.#directory), ({ name }) => {
      if (name !== null && name !== basename(this.#directory)) return;
      this.#arm();
      this.#notify(true);
    });
    // Try again: the directory may have been made before its parent was watched.
    this.#own = this.#watchOwn();
    if (this.#own === undefined && this.#above === undefined)
      this.#pollTimer = setInterval(() => this.#notify(true), this.#options.pollMs).unref();
  }

  #disarm(): void {
    this.#own?.close();
    this.#above?.close();
    this.#own = undefined;
    this.#above = undefined;
    clearInterval(this.#pollTimer);
  }

  #watchOwn(): FSWatcher | undefined {
    // A link in the directory's place is not followed. The watch on the parent tells when it is gone.
    if (!isDirectory(this.#directory)) return undefined;
    return this.#tryWatch(this.#directory, ({ isRename, isSelf }) => {
      if (isSelf) this.#arm();
      this.#notify(isRename);
    });
  }

  #tryWatch(path: string, onChange: (change: DirectoryChange) => void): FSWatcher | undefined {
    // The directory may be missing, or the system have no watch left: then the poll finds changes.
    return attempt(() => watchDirectory(path, onChange, () => this.#arm(), this.#options.watch));
  }

  #notify(isListChanged: boolean): void {
    this.#isListChanged ||= isListChanged;
    if (this.#restTimer !== undefined) {
      this.#cameInRest = true;
      return;
    }
    for (const watch of this.watches) watch.notify(this.#isListChanged);
    this.#isListChanged = false;
    this.#cameInRest = false;
    this.#restTimer = setTimeout(() => {
      this.#restTimer = undefined;
      if (this.#cameInRest) this.#notify(false);
    }, REST_MS).unref();
  }
}

function isDirectory(path: string): boolean {
  return attempt(() => lstatSync(path).isDirectory(), false);
}
