/**
 * Watches the directories of templates, and says that a template may have changed, never what. So a late or repeated
 * event does no harm. The library begins a watch when a template's digest is asked for. It knows all directories, so that
 * chokidar, which lists each one at its start and at each event, has nothing to add here and costs 40 times as much.
 */
import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMissing, systemCodeOf } from '../../files/system-error.js';
import { type DirectoryChange, watchDirectory } from '../../files/watch-directory.js';
import type { Clock } from '../../loop/clock.js';

/** All templates together: the system has a limit for each user, 8,192 on older ones. */
const MAX_DIRECTORIES = 4000;
/** A template that nobody has asked for this long gives its watch to another one that finds no room. */
const UNUSED_MS = 600_000;
/** How long a watch that failed is not tried again. */
const FAILED_MS = 60_000;
/** Watches that are begun between two turns of the event loop. */
const PER_TURN = 200;

/** `path` to inode: a directory that was replaced must be watched anew. */
export type WatchedDirectories = ReadonlyMap<string, bigint>;

export interface ContentWatchOptions {
  /** The template of this key may have changed, or its watch has begun and it may have changed before. */
  readonly onHint: (key: string) => void;
  /** The template of this key is not watched, and why. */
  readonly onRefused: (key: string, why: string) => void;
  readonly clock: Clock;
  readonly maxDirectories?: number;
}

interface Watch {
  readonly directories: WatchedDirectories;
  readonly watchers: FSWatcher[];
  /** All directories are watched. */
  isReady: boolean;
  /** One of the directories was moved, removed or made anew: its watch may be that of another one. */
  isBroken: boolean;
  /** Monotonic ms. */
  usedAt: number;
}

export class ContentWatch {
  readonly #options: ContentWatchOptions;
  readonly #watches = new Map<string, Watch>();
  /** Keys without a watch, and the monotonic time until which none is tried. */
  readonly #refused = new Map<string, number>();
  #isStopped = false;

  constructor(options: ContentWatchOptions) {
    this.#options = options;
  }

  /**
   * Asks that exactly these directories be watched. True: they are, and every change since the hint before was or will
   * be told. False: not yet; a hint says when. Undefined: they cannot be.
   */
  follow(key: string, directories: WatchedDirectories): boolean | undefined {
    const known = this.#watches.get(key);
    if (known !== undefined && !known.isBroken && isSame(known.directories, directories)) {
      this.touch(key);
      return known.isReady;
    }
    this.forget(key);
    if (this.#isStopped || !this.#hasRoom(key, directories.size)) return undefined;
    void this.#begin(key, directories);
    return false;
  }

  /** Notes that the template is in use. */
  touch(key: string): void {
    const known = this.#watches.get(key);
    if (known !== undefined) known.usedAt = this.#options.clock.monotonic();
  }

  /** Ends the watch of a template. Idempotent. */
  forget(key: string): void {
    const known = this.#watches.get(key);
    this.#watches.delete(key);
    for (const watcher of known?.watchers ?? []) watcher.close();
  }

  /** Idempotent. */
  stop(): void {
    this.#isStopped = true;
    for (const key of [...this.#watches.keys()]) this.forget(key);
  }

  async #begin(key: string, directories: WatchedDirectories): Promise<void> {
    const { onHint, clock } = this.#options;
    const usedAt = clock.monotonic();
    const begun: Watch = { directories, watchers: [], isReady: false, isBroken: false, usedAt };
    this.#watches.set(key, begun);
    let count = 0;
    for (const path of directories.keys()) {
      if (count++ % PER_TURN === 0) await nextTurn();
      if (this.#watches.get(key) !== begun) return;
      this.#watch(key, begun, path);
    }
    if (this.#watches.get(key) !== begun) return;
    begun.isReady = true;
    onHint(key);
  }

  #watch(key: string, begun: Watch, path: string): void {
    const failed = (error: unknown): void => {
      if (this.#watches.get(key) !== begun) return;
      // A directory that has gone is no reason against the watch: the next look knows better.
      if (isMissing(error)) begun.isBroken = true;
      else this.#refuse(key, `it cannot be watched (${systemCodeOf(error)})`);
    };
    try {
      const onChange = (change: DirectoryChange): void => {
        if (this.#watches.get(key) !== begun) return;
        begun.isBroken ||= change.isRename && concernsDirectory(begun.directories, path, change);
        this.#options.onHint(key);
      };
      begun.watchers.push(watchDirectory(path, onChange, failed));
    } catch (error) {
      failed(error);
    }
  }

  #hasRoom(key: string, count: number): boolean {
    const { clock, maxDirectories = MAX_DIRECTORIES } = this.#options;
    const now = clock.monotonic();
    const refusedUntil = this.#refused.get(key);
    if (refusedUntil !== undefined && now < refusedUntil) return false;
    const isFree = (): boolean => this.#count() + count <= maxDirectories;
    for (const [other, { usedAt }] of [...this.#watches].sort(([, a], [, b]) => a.usedAt - b.usedAt))
      if (!isFree() && count <= maxDirectories && now - usedAt > UNUSED_MS) this.forget(other);
    if (!isFree())
      this.#refuse(key, `it has ${count} directories, and at most ${maxDirectories} are watched`);
    else this.#refused.delete(key);
    return isFree();
  }

  #count(): number {
    return [...this.#watches.values()].reduce((sum, { directories }) => sum + directories.size, 0);
  }

  #refuse(key: string, why: string): void {
    const isNews = !this.#refused.has(key);
    this.#refused.set(key, this.#options.clock.monotonic() + FAILED_MS);
    this.forget(key);
    if (isNews) this.#options.onRefused(key, why);
  }
}

function isSame(a: WatchedDirectories, b: WatchedDirectories): boolean {
  return a.size === b.size && [...a].every(([path, inode]) => b.get(path) === inode);
}

/** Whether a `rename` event in `directory` says that a watched directory came, went or moved. */
function concernsDirectory(
  directories: WatchedDirectories,
  directory: string,
  { name, isSelf }: DirectoryChange,
): boolean {
  return name === null || isSelf || directories.has(join(directory, name));
}
