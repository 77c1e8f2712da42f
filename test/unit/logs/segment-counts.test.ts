/** Counting the lines of a growing file without reading it whole each time. */
import * as fs from 'node:fs';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import { openSegment } from '../../../src/logs/segment-reader.js';
import { segmentAt } from '../../../src/logs/segments.js';
import { LogFiles } from '../../support/runtime/log-files.js';

let log: LogFiles;
let counts: SegmentCounts;
beforeEach(() => {
  log = new LogFiles();
  counts = new SegmentCounts();
});
afterEach(() => log.remove());

/** Counts, and says how many bytes were read for it. */
async function count(): Promise<{ newlines: number; bytes: number }> {
  const segment = segmentAt(log.directory, 1);
  const opened = await openSegment(segment);
  if (opened === undefined) return expect.fail('no segment');
  const read = vi.spyOn(opened.handle, 'read');
  try {
    const newlines = await counts.newlines(segment.path, opened);
    const reads = await Promise.all(read.mock.results.map(({ value }) => value));
    return { newlines, bytes: reads.reduce((sum, one) => sum + (one?.bytesRead ?? 0), 0) };
  } finally {
    await opened.handle.close();
  }
}

it('reads what came since the last time only', async () => {
  log.write(1, 'line\n'.repeat(200_000));
  expect((await count()).newlines).toBe(200_000);
  log.write(1, 'more\nhalf');
  const { newlines, bytes } = await count();
  expect(newlines).toBe(200_001);
  expect(bytes).toBeLessThan(1000);
});

it('counts anew when the file was cut, replaced, or cut and grew again', async () => {
  log.write(1, 'a\n'.repeat(1000));
  expect((await count()).newlines).toBe(1000);
  fs.truncateSync(log.pathOf(1), 10);
  expect((await count()).newlines).toBe(5);
  fs.truncateSync(log.pathOf(1), 0);
  log.write(1, 'longer line\n'.repeat(500));
  expect((await count()).newlines).toBe(500);
  fs.writeFileSync(`${log.pathOf(1)}.new`, 'b\nlonger line\n'.repeat(600));
  fs.renameSync(`${log.pathOf(1)}.new`, log.pathOf(1));
  expect((await count()).newlines).toBe(1200);
});

it('counts right when asked twice at once', async () => {
  log.write(1, 'a\n'.repeat(100_000));
  expect((await Promise.all([count(), count()])).map(({ newlines }) => newlines)).toEqual([100_000, 100_000]);
  log.write(1, 'a\n');
  expect((await count()).newlines).toBe(100_001);
});
