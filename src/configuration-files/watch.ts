/**
 * Reports that something in the watched places may have changed, but not what. The reader of the directory looks for
 * itself, so a lost, late or repeated event does no harm.
 */

import type { FSWatcher } from 'node:fs';
import { lstat, readlink, stat } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { isMissing } from '../files/system-error.js';
import { type DirectoryChange, watchDirectory } from '../files/watch-directory.js';
import { isConfigurationFile } from './file-names.js';

interface ConfigurationWatchOptions {
  /** Called, maybe often, when this file may have changed; null: any file may have. */
  readonly onHint: (file: string | null) => void;
  /**
   * Called when watching fails, for example when no inotify watches are left. No hints come until the next `follow`.
   */
  readonly onFailure: (error: unknown) => void;
}

export class ConfigurationWatch {
  readonly #options: ConfigurationWatchOptions;
  #watchers: FSWatcher[] = [];
  #following = '';

  constructor(options: ConfigurationWatchOptions) {
    this.#options = options;
  }

  /**
   * Watches these points from now on, and gives a hint when the watch has begun. Does nothing if it watches them
   * already. Throws when the system refuses.
   */
  async follow(points: WatchPoints): Promise<void> {
    const text = watchPointsText(points);
    if (text === this.#following && this.#watchers.length > 0) return;
    await this.stop();
    this.#following = text;
    for (const [path, point] of points) {
      try {
        this.#watch(path, point);
      } catch (error) {
        // The directory went meanwhile: the next `follow` watches anew.
        if (!isMissing(error)) throw error;
        this.#following = '';
      }
    }
    this.#options.onHint(null);
  }

  #watch(path: string, point: WatchPoint): void {
    const isCurrent = (): boolean => this.#watchers.includes(watcher);
    const watcher: FSWatcher = watchDirectory(
      path,
      (change) => {
        const file = fileOf(path, change, point);
        if (file === undefined || !isCurrent()) return;
        // A directory on the path may have moved. Its watch then tells nothing more, so let the next `follow` watch anew.
        if (file === null) this.#following = '';
        this.#options.onHint(file);
      },
      (error) => {
        if (isCurrent()) this.#options.onFailure(error);
      },
    );
    this.#watchers.push(watcher);
  }

  /** Stops watching. Idempotent; `follow` may be called again. */
  async stop(): Promise<void> {
    const watchers = this.#watchers;
    this.#watchers = [];
    for (const watcher of watchers) watcher.close();
  }
}

/** The one file that an event concerns. Null: anything may have changed. Undefined: no configuration is concerned. */
function fileOf(
  directory: string,
  { name, isRename }: DirectoryChange,
  point: WatchPoint,
): string | null | undefined {
  // When a directory itself is removed or moved, the event has the directory's own name.
  if (name === null || name === basename(directory)) return null;
  if (point.names.has(name)) return null;
  if (point.inner === undefined) return undefined;
  if (isConfigurationFile(name)) return join(point.inner, name);
  // A name without an ending may be a subdirectory that comes or goes.
  return isRename && isConfigurationFile(`${name}/a.json`) ? null : undefined;
}

const MAX_LINKS = 40;

/** The names that matter in one real directory. */
interface WatchPoint {
  readonly names: Set<string>;
  /** Where the directory lies in the configurations directory, if every configuration file in it matters, too. */
  inner: string | undefined;
  /** The directory's device and inode: another directory at the same path is another point. */
  readonly identity: string;
}

/** The points, by real path of the directory. */
export type WatchPoints = ReadonlyMap<string, WatchPoint>;

/** The directory that is watched, with its files that are symbolic links and its subdirectories. */
interface WatchedDirectory {
  readonly directory: string;
  readonly links: readonly string[];
  readonly directories: readonly string[];
}

/** Finds the points of a directory. For a missing path it watches the directory where that path would appear. */
export async function findWatchPoints({
  directory,
  links,
  directories,
}: WatchedDirectory): Promise<WatchPoints> {
  const points = new Map<string, WatchPoint>();
  const source = await follow(directory, points);
  if (source !== undefined)
    for (const inner of ['', ...directories]) {
      const point = await pointAt(join(source, inner), points);
      if (point !== undefined) point.inner = inner;
    }
  for (const name of links) await follow(join(directory, name), points);
  return points;
}

/** The points as a text: equal texts mean the same points. */
function watchPointsText(points: WatchPoints): string {
  const lines = [...points].map(([path, { identity, inner, names }]) =>
    JSON.stringify([path, identity, inner, [...names].sort()]),
  );
  return lines.sort().join('\n');
}

/** Resolves `path` as the kernel does, and notes each name on the way. Returns the real path, if it exists. */
async function follow(path: string, points: Map<string, WatchPoint>): Promise<string | undefined> {
  let rest = segmentsOf(path);
  let current = '/';
  let linksLeft = MAX_LINKS;
  for (let segment = rest.shift(); segment !== undefined; segment = rest.shift()) {
    const next = join(current, segment);
    const status = await lstat(next).catch(() => undefined);
    const isLink = status?.isSymbolicLink() === true;
    if (status === undefined || isLink || rest.length === 0)
      (await pointAt(current, points))?.names.add(segment);
    if (status === undefined) return undefined;
    if (!isLink) current = next;
    else {
      const target = await readlink(next).catch(() => undefined);
      if (target === undefined || linksLeft-- === 0) return undefined;
      rest = [...segmentsOf(resolve(current, target)), ...rest];
      current = '/';
    }
  }
  return current;
}

async function pointAt(path: string, points: Map<string, WatchPoint>): Promise<WatchPoint | undefined> {
  const known = points.get(path);
  if (known !== undefined) return known;
  const status = await stat(path).catch(() => undefined);
  if (status === undefined) return undefined;
  const point = { names: new Set<string>(), inner: undefined, identity: `${status.dev}:${status.ino}` };
  points.set(path, point);
  return point;
}

function segmentsOf(path: string): string[] {
  return resolve(path)
    .split('/')
    .filter((segment) => segment !== '');
}
