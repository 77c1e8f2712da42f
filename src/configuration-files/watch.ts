/**
 * Reports that something in the watched places may have changed, never what. The reader of the directory looks for
 * itself, so a lost, late or repeated event does no harm.
 */
import { basename } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { z } from 'zod';
import { isConfigurationFile } from './directory.js';
import { type WatchPoint, type WatchPoints, watchPointsText } from './watch-points.js';

const rawDetailsSchema = z.object({ watchedPath: z.string() });

interface ConfigurationWatchOptions {
  /** This file may have changed; null: anything may have. May be called often. */
  readonly onHint: (file: string | null) => void;
  /** Watching does not work, for example because no inotify watches are left. No hints come until the next `follow`. */
  readonly onFailure: (error: unknown) => void;
}

export class ConfigurationWatch {
  readonly #options: ConfigurationWatchOptions;
  #watcher: FSWatcher | undefined;
  #following = '';

  constructor(options: ConfigurationWatchOptions) {
    this.#options = options;
  }

  /**
   * Watches these points from now on, and gives a hint when the watch has begun. Does nothing when they are the
   * same.
   */
  async follow(points: WatchPoints): Promise<void> {
    const text = watchPointsText(points);
    if (text === this.#following && this.#watcher !== undefined) return;
    // The old watcher closes first: chokidar would hand the new one its inode for an equal path.
    await this.stop();
    this.#following = text;
    const watcher = watch([...points.keys()], {
      ignored: (path) => !points.has(path),
      depth: 0,
      ignoreInitial: true,
      atomic: false,
    });
    this.#watcher = watcher;
    watcher.on('ready', () => this.#options.onHint(null));
    // The raw events: `change` loses the second of two changes of a file within 50 ms, as configuration-watch.test.ts shows.
    watcher.on('raw', (_event, name, details) => {
      const { data } = rawDetailsSchema.safeParse(details);
      const file = data === undefined ? null : fileOf(data.watchedPath, name, points.get(data.watchedPath));
      if (file === undefined || watcher !== this.#watcher) return;
      // A directory on the way may have moved. chokidar then stops watching it, even if it is back before the next look.
      if (file === null) this.#following = '';
      this.#options.onHint(file);
    });
    watcher.on('error', (error) => {
      if (watcher === this.#watcher) this.#options.onFailure(error);
    });
  }

  /** Idempotent; `follow` may be called again. */
  async stop(): Promise<void> {
    const watcher = this.#watcher;
    this.#watcher = undefined;
    await watcher?.close();
  }
}

/** The one file that an event concerns. Null: anything may have changed. Undefined: no configuration is concerned. */
function fileOf(
  directory: string,
  name: string | null,
  point: WatchPoint | undefined,
): string | null | undefined {
  // The event of a directory that is itself removed or moved has the directory's own name.
  if (name === null || point === undefined || name === basename(directory)) return null;
  if (point.names.has(name)) return null;
  return point.isSource && isConfigurationFile(name) ? name : undefined;
}
