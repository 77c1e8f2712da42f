/**
 * Watches one directory by the system's notices. A notice says that something has changed; the caller has to find
 * out what.
 */
import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { messageOf } from '../model/errors.js';
import { refusalOf, systemCodeOf } from './system-error.js';

export interface DirectoryChange {
  /** The name in the directory; null: not known. */
  readonly name: string | null;
  /** True when names may have come or gone. */
  readonly isRename: boolean;
  /** True when the directory itself may have been removed or moved. The watch then reports no more changes. */
  readonly isSelf: boolean;
}

/** `fs.watch`, or a replacement for tests, such as a system that has no watches left. */
export type SystemWatch = (path: string, onEvent: (event: string, name: string | null) => void) => FSWatcher;

/**
 * Begins to watch; the caller closes the returned watcher. Throws when the directory is missing, or the system has
 * no watches left. `onFailure` is called when the watch fails later.
 */
export function watchDirectory(
  path: string,
  onChange: (change: DirectoryChange) => void,
  onFailure: (error: Error) => void,
  system: SystemWatch = systemWatch,
): FSWatcher {
  const watcher = system(path, (event, name) => {
    // When the watched directory itself is removed or moved, the event carries the directory's own name.
    onChange({ name, isRename: event === 'rename', isSelf: name === basename(path) });
  });
  return watcher.on('error', onFailure);
}

/** Says why the system refuses to watch. Two of its codes mean something else wherever files are written. */
export function watchRefusal(error: unknown): string {
  const code = systemCodeOf(error);
  if (code === 'ENOSPC') return `no inotify watch is left (${code}); raise fs.inotify.max_user_watches`;
  if (code === 'EMFILE') return `no inotify instance is left (${code}); raise fs.inotify.max_user_instances`;
  return code === undefined ? messageOf(error) : refusalOf(error);
}

const systemWatch: SystemWatch = (path, onEvent) => watch(path, { persistent: false }, onEvent);
