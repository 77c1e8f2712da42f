/** Finds the line of an instance's log at which a run's output begins: of the next run, or of a run that has begun. */
import type { LogPlace } from '../model/run/past-exit.js';
import { countIn, type SegmentCounts } from './segment-counts.js';
import { endsInside, listSegments, withSegment } from './segment-reader.js';

/**
 * The number of the first line of a run that starts now. An unfinished line counts, because the start finishes it
 * first. Call it while no run writes. Throws the system's read errors.
 */
export async function nextLine(directory: string, counts: SegmentCounts): Promise<number> {
  for (const segment of (await listSegments(directory)).toReversed()) {
    const next = await withSegment(segment, async (opened) => {
      const lines = segment.firstLine + (await counts.newlines(segment.path, opened));
      return (await endsInside(opened, opened.stat.size)) ? lines + 1 : lines;
    });
    if (next !== undefined) return next;
  }
  return 1;
}

/**
 * The number of the line that begins at a place. If the place's segment was rotated away, returns the number of the
 * segment's first line. Throws the system's read errors.
 */
export async function lineAt(directory: string, { segment, offset }: LogPlace): Promise<number> {
  const found = (await listSegments(directory)).find(({ firstLine }) => firstLine === segment);
  return (
    (await withSegment(found, async ({ handle }) => segment + (await countIn(handle, 0, offset)))) ?? segment
  );
}
