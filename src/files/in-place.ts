/**
 * Tells writers that keep a file open whether it is still the file at its path. Without a look they would go on in a
 * file that an operator removed to make room: its disk space stays taken, and nobody can read what is written.
 */
import { lstatSync, type Stats } from 'node:fs';
import { isMissing } from './system-error.js';

/** How long a writer goes on without a look. */
const LOOK_EVERY_MS = 1000;

/**
 * False when the file that was opened with `opened` is no longer at `path`: it was removed, renamed or replaced. True
 * when the system cannot tell.
 */
export function isInPlace(path: string, opened: Pick<Stats, 'dev' | 'ino'>): boolean {
  try {
    const { dev, ino } = lstatSync(path);
    return dev === opened.dev && ino === opened.ino;
  } catch (error) {
    return !isMissing(error);
  }
}

/** Makes a test that is true at most once a second, and at once after a step of the clock. */
export function lookIsDue(now: () => number): () => boolean {
  let lookedAt = now();
  return () => {
    const at = now();
    if (at >= lookedAt && at < lookedAt + LOOK_EVERY_MS) return false;
    lookedAt = at;
    return true;
  };
}
