/** Whatever is written in whatever pieces: the kept segments are the end of it, cut at a line border. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { SegmentWriter } from '../../src/logs/segment-writer.js';
import { segmentsOf } from '../../src/logs/segments.js';
import { readLastLines } from '../../src/logs/tail.js';

const NEWLINE = 0x0a;

/** Lines of text and raw bytes (cut UTF-8 too), now and then longer than a segment, the last one maybe unfinished. */
const output = fc
  .array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.string({ unit: 'binary', maxLength: 12 }).map((text) => Buffer.from(`${text}\n`)),
      },
      { weight: 2, arbitrary: fc.uint8Array({ maxLength: 20 }).map((bytes) => Buffer.from(bytes)) },
      { weight: 1, arbitrary: fc.nat(120).map((length) => Buffer.alloc(length, 'x')) },
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.concat(parts));

const scenario = fc.record({
  output,
  /** Where the chunks end, as shares of the whole; `true`: a new writer goes on there. */
  cuts: fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.boolean()), { maxLength: 20 }),
  segmentBytes: fc.integer({ min: 8, max: 64 }),
  segments: fc.integer({ min: 2, max: 5 }),
});

it('keeps the end of the output, whole lines, within its bounds', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ output, cuts, segmentBytes, segments }) => {
      const directory = fs.mkdtempSync(join(tmpdir(), 'drover-property-'));
      try {
        writeInPieces(directory, output, cuts, { segmentBytes, segments });
        const kept = segmentsOf(directory, fs.readdirSync(directory)).map((segment) => ({
          ...segment,
          bytes: fs.readFileSync(segment.path),
        }));
        const text = Buffer.concat(kept.map(({ bytes }) => bytes));
        expect(kept.length).toBeLessThanOrEqual(segments);
        expect(kept.every(({ bytes }) => bytes.length <= segmentBytes)).toBe(true);
        expect(text).toEqual(output.subarray(output.length - text.length));
        for (const { bytes, firstLine } of kept) expectBorders(bytes, firstLine, kept, segmentBytes);
        await expectTail(directory, output, kept);
      } finally {
        fs.rmSync(directory, { recursive: true });
      }
    }),
    { numRuns: 300 },
  );
});

interface Kept {
  readonly firstLine: number;
  readonly bytes: Buffer;
}

/** A segment ends with a line, unless it is the last, or a line was cut that fills it whole. */
function expectBorders(bytes: Buffer, firstLine: number, kept: readonly Kept[], segmentBytes: number): void {
  const next = kept[kept.findIndex((one) => one.firstLine === firstLine) + 1];
  if (next === undefined) return;
  const isCut = bytes.at(-1) !== NEWLINE;
  if (isCut) expect([bytes.length, bytes.indexOf(NEWLINE)]).toEqual([segmentBytes, -1]);
  expect(next.firstLine).toBe(firstLine + linesOf(bytes).length);
}

async function expectTail(directory: string, output: Buffer, kept: readonly Kept[]): Promise<void> {
  const last = kept.at(-1);
  const lines = kept.flatMap(({ bytes }) => linesOf(bytes));
  const found = await readLastLines(directory, 7);
  expect(found.lines).toEqual(lines.slice(-7));
  const total = last === undefined ? 0 : last.firstLine - 1 + linesOf(last.bytes).length;
  expect(found.totalLines).toBe(total);
  if (output.length === 0) expect(total).toBe(0);
}

function linesOf(bytes: Buffer): string[] {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    const end = newline < 0 ? bytes.length : newline;
    lines.push(bytes.toString('utf8', at, end));
    at = end + 1;
  }
  return lines;
}

function writeInPieces(
  directory: string,
  output: Buffer,
  cuts: readonly (readonly [number, boolean])[],
  limits: { segmentBytes: number; segments: number },
): void {
  const sorted = [...cuts].sort(([a], [b]) => a - b);
  let writer = new SegmentWriter(directory, limits);
  let at = 0;
  for (const [share, reopens] of sorted) {
    const end = Math.floor(share * output.length);
    writer.write(output.subarray(at, end));
    at = end;
    if (!reopens) continue;
    writer.close();
    writer = new SegmentWriter(directory, limits);
  }
  writer.write(output.subarray(at));
  writer.close();
}
