/**
 * Watches the directories of templates, and says that a template may have changed, never what. So a late or repeated
 * event does no harm. The library begins a watch when a template's digest is asked for.
 */
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { z } from 'zod';
import type { Clock } from '../../loop/clock.js';

/** All templates together: the system has a limit for each user, 8,192 on older ones. */
const MAX_DIRECTORIES = 4000;
/** A template that nobody has asked for this long gives its watch to another one that finds no room. */
const UNUSED_MS = 600_000;
/** How long a watch that failed is not tried again. */
const FAILED_MS = 60_000;

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
  readonly watcher: FSWatcher;
  /** All directories are watched. */
  isReady: boolean;
  /** One of the directories was moved, removed or made anew: its watch may be that of another one. */
  isBroken: boolean;
  /** Monotonic ms. */
  usedAt: number;
}

const rawDetailsSchema = z.object({ watchedPath: z.string() });

export class ContentWatch {
  readonly #options: ContentWatchOptions;
  readonly #watches = new Map<string, Watch>();
  /** Keys without a watch, and the monotonic time until which none is tried. */
  readonly #refused = new Map<string, number>();
  readonly #closing = new Set<Promise<void>>();
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
    this.#begin(key, directories);
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
    if (known === undefined) return;
    const closing = known.watcher.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const key of [...this.#watches.keys()]) this.forget(key);
    await Promise.all(this.#closing);
  }

  #begin(key: string, directories: WatchedDirectories): void {
    const { onHint, clock } = this.#options;
    const watcher = watch([], {
      ignored: (path) => !directories.has(path),
      depth: 0,
      ignoreInitial: true,
      followSymlinks: false,
      atomic: false,
    });
    const begun: Watch = { directories, watcher, isReady: false, isBroken: false, usedAt: clock.monotonic() };
    const isCurrent = (): boolean => this.#watches.get(key) === begun;
    this.#watches.set(key, begun);
    watcher.on('ready', () => {
      if (!isCurrent()) return;
      begun.isReady = true;
      onHint(key);
    });
    // The raw events: chokidar's own come later, and not for each change.
    watcher.on('raw', (event, name, details) => {
      if (!isCurrent()) return;
      begun.isBroken ||= event === 'rename' && concernsDirectory(directories, name, details);
      onHint(key);
    });
    watcher.on('error', (error) => {
      if (isCurrent()) this.#refuse(key, `it cannot be watched (${codeOf(error)})`);
    });
    watcher.add([...directories.keys()]);
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

/** Whether a `rename` event says that a watched directory came, went or moved. */
function concernsDirectory(directories: WatchedDirectories, name: string | null, details: unknown): boolean {
  const { data } = rawDetailsSchema.safeParse(details);
  if (data === undefined || name === null) return true;
  // The event of a directory that is itself removed or moved has the directory's own name.
  return name === basename(data.watchedPath) || directories.has(join(data.watchedPath, name));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
