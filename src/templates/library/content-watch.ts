/**
 * Watches the directories of templates. It says which template may have changed, but not how, so a late or
 * repeated event does no harm. The library begins a watch when a caller asks for a template's digest.
 *
 * It does not use chokidar, because the library knows all directories already. chokidar lists each directory
 * at its start and at each event, which costs 40 times as much here.
 */
import type { FSWatcher } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMissing } from '../../files/system-error.js';
import {
  type DirectoryChange,
  type SystemWatch,
  watchDirectory,
  watchRefusal,
} from '../../files/watch-directory.js';
import type { Clock } from '../../loop/clock.js';

/** The limit for the watched directories of all templates. The system limits each user, on older systems to 8,192. */
const MAX_DIRECTORIES = 4000;
/**
 * A template whose digest was not asked for during this time gives its watch to another template that finds no room.
 */
const UNUSED_MS = 600_000;
/** How long a failed watch is not tried again. */
const FAILED_MS = 60_000;
/** How many watches begin between two turns of the event loop. */
const PER_TURN = 200;

/**
 * The watched directories: the inode of each, by its path. Another inode shows that the directory was
 * replaced and needs a new watch.
 */
type WatchedDirectories = ReadonlyMap<string, bigint>;

interface ContentWatchOptions {
  /**
   * Called when the template of this key may have changed. Also called when a watch has begun, because the
   * template may have changed shortly before.
   */
  readonly onHint: (key: string) => void;
  /** Called when the template of this key cannot be watched, with the reason. */
  readonly onRefused: (key: string, why: string) => void;
  readonly clock: Clock;
  readonly maxDirectories?: number;
  /** Default: that of the system. */
  readonly watch?: SystemWatch;
}

interface Watch {
  readonly directories: WatchedDirectories;
  readonly watchers: FSWatcher[];
  /** True when all directories are watched. */
  isReady: boolean;
  /** True when one of the directories was moved, removed or made anew: its watch may follow another directory now. */
  isBroken: boolean;
  /** The time of the last use, in monotonic milliseconds. */
  usedAt: number;
}

export class ContentWatch {
  readonly #options: ContentWatchOptions;
  readonly #watches = new Map<string, Watch>();
  /** The keys whose last watch failed, each with the monotonic time of the next try. */
  readonly #refused = new Map<string, number>();
  #isStopped = false;

  constructor(options: ContentWatchOptions) {
    this.#options = options;
  }

  /**
   * Asks that exactly these directories be watched. True: they are watched, and every change since the watch began is
   * told. False: the watch has not begun yet; a hint will say when. Undefined: they cannot be watched.
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
    this.#refused.delete(key);
    onHint(key);
  }

  #watch(key: string, begun: Watch, path: string): void {
    const failed = (error: unknown): void => {
      if (this.#watches.get(key) !== begun) return;
      // A directory was removed. That is no reason to refuse the watch: the next look at the tree names the
      // right directories.
      if (isMissing(error)) begun.isBroken = true;
      else this.#refuse(key, watchRefusal(error));
    };
    try {
      const onChange = (change: DirectoryChange): void => {
        if (this.#watches.get(key) !== begun) return;
        begun.isBroken ||= change.isRename && concernsDirectory(begun.directories, path, change);
        this.#options.onHint(key);
      };
      begun.watchers.push(watchDirectory(path, onChange, failed, this.#options.watch));
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
