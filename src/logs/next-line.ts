/** Finds the line of an instance's log at which a run's output begins: of the next run, or of a run that has begun. */
import type { LogPlace } from '../model/run/past-exit.js';
import { countIn, type SegmentCounts } from './segment-counts.js';
import { listSegments, openSegment } from './segment-reader.js';
import { NEWLINE } from './segments.js';

/**
 * The number of the first line of a run that starts now. An unfinished line counts, because the start finishes it
 * first. Call it while no run writes. Throws the system's read errors.
 */
export async function nextLine(directory: string, counts: SegmentCounts): Promise<number> {
  for (const segment of (await listSegments(directory)).toReversed()) {
    const opened = await openSegment(segment);
    if (opened === undefined) continue;
    const { handle, stat } = opened;
    try {
      const newlines = await counts.newlines(segment.path, opened);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, stat.size - 1));
      const isUnfinished = bytesRead === 1 && buffer[0] !== NEWLINE;
      return segment.firstLine + newlines + (isUnfinished ? 1 : 0);
    } finally {
      await handle.close();
    }
  }
  return 1;
}

/**
 * The number of the line that begins at a place. If the place's segment was rotated away, returns the number of the
 * segment's first line. Throws the system's read errors.
 */
export async function lineAt(directory: string, { segment, offset }: LogPlace): Promise<number> {
  const found = (await listSegments(directory)).find(({ firstLine }) => firstLine === segment);
  const opened = found === undefined ? undefined : await openSegment(found);
  if (opened === undefined) return segment;
  try {
    return segment + (await countIn(opened.handle, 0, offset));
  } finally {
    await opened.handle.close();
  }
}
