/**
 * Finds and opens the segments of a log for every reader. The instance could tamper with its own log, so links are not
 * followed, and only regular files count as segments.
 */
import type { Stats } from 'node:fs';
import { type FileHandle, lstat, open, readdir } from 'node:fs/promises';
import { ignoring } from '../files/system-error.js';
import { NEWLINE, READ, type Segment, segmentsOf } from './segments.js';

export interface OpenSegment {
  readonly handle: FileHandle;
  readonly stat: Stats;
}

/** ELOOP: a link stands in its place, which is not ours and is not read. */
const ignoreGone = ignoring('ENOENT', 'ENOTDIR', 'ELOOP');

/** All segments, the oldest first; empty when the directory is missing or a link. Throws the system's other errors. */
export async function listSegments(directory: string): Promise<Segment[]> {
  const status = await lstat(directory).catch(ignoreGone);
  if (status?.isDirectory() !== true) return [];
  return segmentsOf(directory, (await readdir(directory).catch(ignoreGone)) ?? []);
}

/** Opens a segment; the caller closes the handle. Undefined: it was removed meanwhile, or is no regular file. */
export async function openSegment(segment: Segment): Promise<OpenSegment | undefined> {
  const handle = await open(segment.path, READ).catch(ignoreGone);
  if (handle === undefined) return undefined;
  try {
    const stat = await handle.stat();
    if (stat.isFile()) return { handle, stat };
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return undefined;
}

/**
 * Opens a segment, and closes it after `read`. Undefined when the segment was removed meanwhile, or is no regular file.
 */
export async function withSegment<T>(
  segment: Segment | undefined,
  read: (opened: OpenSegment) => Promise<T>,
): Promise<T | undefined> {
  const opened = segment === undefined ? undefined : await openSegment(segment);
  if (opened === undefined) return undefined;
  try {
    return await read(opened);
  } finally {
    await opened.handle.close();
  }
}

/** True when a line begins before `end` in the segment and does not end there. */
export async function endsInside({ handle }: OpenSegment, end: number): Promise<boolean> {
  if (end === 0) return false;
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, end - 1);
  return bytesRead === 0 || buffer[0] !== NEWLINE;
}

/** The inode of the entry at the segment's path; undefined: there is none. */
export async function inodeOf(segment: Segment): Promise<number | undefined> {
  return (await lstat(segment.path).catch(ignoreGone))?.ino;
}
