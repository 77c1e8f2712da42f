/**
 * Whatever is written, in whatever pieces, with a clock that jumps, writers that are killed, and indexes and logs that
 * are cut or damaged: the time of a line is the right one or unknown, and never another one.
 */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { timestampsOf } from '../../src/logs/line-times.js';
import { type LogRangeQuery, readLogRange } from '../../src/logs/log-range.js';
import { SegmentCounts } from '../../src/logs/segment-counts.js';
import { SegmentWriter } from '../../src/logs/segment-writer.js';
import { type Segment, segmentsOf } from '../../src/logs/segments.js';
import { timesPathOf } from '../../src/logs/time-index.js';

const NEWLINE = 0x0a;
const BEGIN = 1_700_000_000;
const MOST = 1000;

const share = fc.double({ min: 0, max: 1, noNaN: true });
const text = fc.array(fc.constantFrom('a', 'bc', '\n', '\n', 'x'.repeat(15), '\n\n', 'é'), { maxLength: 12 });

type Step =
  | { readonly do: 'write'; readonly text: string }
  | { readonly do: 'wait'; readonly seconds: number }
  | { readonly do: 'kill' }
  | { readonly do: 'cut-index' | 'flip-index' | 'cut-log'; readonly share: number }
  | { readonly do: 'lose-index' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 16, arbitrary: text.map((parts) => ({ do: 'write' as const, text: parts.join('') })) },
  {
    weight: 5,
    arbitrary: fc.integer({ min: 1, max: 5 }).map((seconds) => ({ do: 'wait' as const, seconds })),
  },
  {
    weight: 1,
    arbitrary: fc.integer({ min: -9, max: -1 }).map((seconds) => ({ do: 'wait' as const, seconds })),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'kill' as const }) },
  { weight: 1, arbitrary: share.map((part) => ({ do: 'cut-index' as const, share: part })) },
  { weight: 1, arbitrary: share.map((part) => ({ do: 'flip-index' as const, share: part })) },
  { weight: 1, arbitrary: share.map((part) => ({ do: 'cut-log' as const, share: part })) },
  { weight: 1, arbitrary: fc.constant({ do: 'lose-index' as const }) },
);

const scenario = fc.record({
  steps: fc.array(step, { minLength: 8, maxLength: 40 }),
  segmentBytes: fc.integer({ min: 12, max: 200 }),
  segments: fc.integer({ min: 2, max: 4 }),
  since: fc.integer({ min: -5, max: 60 }),
  until: fc.integer({ min: -5, max: 60 }),
  cut: fc.tuple(share, share),
});

/** A log with its writer, and the second in which each of its bytes was written. */
class World {
  readonly directory = fs.mkdtempSync(join(tmpdir(), 'drover-times-'));
  readonly seconds: number[] = [];
  /** Seconds of bytes that were lost with the end of a log: the rest of their line may have them. */
  readonly lost = new Set<number>();
  second = BEGIN;
  readonly #limits: { segmentBytes: number; segments: number };
  #writer: SegmentWriter;

  constructor(limits: { segmentBytes: number; segments: number }) {
    this.#limits = limits;
    this.#writer = this.#open();
  }

  get segments(): Segment[] {
    return segmentsOf(this.directory, fs.readdirSync(this.directory));
  }

  run(step: Step): void {
    if (step.do === 'write') this.#write(Buffer.from(step.text));
    else if (step.do === 'wait') this.second += step.seconds;
    else {
      this.#writer.close();
      this.#damage(step);
      this.#writer = this.#open();
    }
  }

  close(): void {
    this.#writer.close();
    fs.rmSync(this.directory, { recursive: true });
  }

  #open(): SegmentWriter {
    return new SegmentWriter(this.directory, this.#limits, () => this.second * 1000 + 500);
  }

  #write(bytes: Buffer): void {
    const before = new Map(this.segments.map(({ path }) => [path, fs.statSync(path).size]));
    this.#writer.write(bytes);
    for (const _byte of bytes) this.seconds.push(this.second);
    for (const { path } of this.segments)
      if (before.get(path) !== fs.statSync(path).size) fs.utimesSync(path, this.second, this.second);
  }

  #damage(step: Step): void {
    const newest = this.segments.at(-1);
    if (newest === undefined) return;
    const index = timesPathOf(newest.path);
    const bytes = fs.existsSync(index) ? fs.readFileSync(index) : Buffer.alloc(0);
    if (step.do === 'lose-index') fs.rmSync(index, { force: true });
    // As after a loss of power: what was written to the disk last is gone.
    if (step.do === 'cut-index')
      fs.writeFileSync(index, bytes.subarray(0, Math.floor(step.share * bytes.length)));
    if (step.do === 'flip-index' && bytes.length > 0) {
      const at = Math.min(bytes.length - 1, Math.floor(step.share * bytes.length));
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      fs.writeFileSync(index, bytes);
    }
    if (step.do === 'cut-log') {
      const { size } = fs.statSync(newest.path);
      const kept = Math.floor(step.share * size);
      fs.truncateSync(newest.path, kept);
      fs.utimesSync(newest.path, this.second, this.second);
      for (const second of this.seconds.splice(this.seconds.length - (size - kept))) this.lost.add(second);
    }
  }
}

interface Line {
  readonly number: number;
  readonly text: string;
  /** When its last byte was written. */
  readonly second: number;
}

/** What the files hold, with the seconds of the bytes that stand there. */
function linesOf(world: World): Line[] {
  const segments = world.segments.map(({ path, firstLine }) => ({ firstLine, bytes: fs.readFileSync(path) }));
  let at = world.seconds.length - segments.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const lines: Line[] = [];
  for (const { bytes, firstLine } of segments) {
    for (let start = 0, number = firstLine; start < bytes.length; number++) {
      const newline = bytes.indexOf(NEWLINE, start);
      const end = newline < 0 ? bytes.length : newline + 1;
      const text = bytes.toString('utf8', start, newline < 0 ? end : newline);
      lines.push({ number, text, second: world.seconds[at + end - 1] ?? 0 });
      start = end;
    }
    at += bytes.length;
  }
  return lines;
}

function read(world: World, query: Partial<LogRangeQuery>): ReturnType<typeof readLogRange> {
  const now = world.second * 1000;
  return readLogRange(world.directory, { lines: MOST, now, ...query }, new SegmentCounts());
}

it('tells the right time of a line or none, finds lines by time and number, and stays bounded', async () => {
  await fc.assert(
    fc.asyncProperty(scenario, async ({ steps, segmentBytes, segments, since, until, cut }) => {
      const world = new World({ segmentBytes, segments });
      try {
        for (const one of steps) world.run(one);
        const lines = linesOf(world);
        const all = await read(world, {});
        expect(all.lines).toEqual(lines.map((line) => line.text));
        expect(all.firstLine).toBe(lines[0]?.number ?? all.firstLine);
        const stamps = timestampsOf(all.times, all.firstLine, all.lines.length);
        for (const [index, { second }] of lines.entries()) expectTime(stamps[index], second, world.lost);
        expect(all.untimedLines).toBe(stamps.filter((stamp) => stamp === null).length);
        await expectRange(world, lines, stamps, { since: BEGIN + since, until: BEGIN + until });
        await expectPart(world, lines, cut);
        expectBounds(world);
      } finally {
        world.close();
      }
    }),
    { numRuns: Number(process.env.DROVER_PROPERTY_RUNS ?? 300) },
  );
});

function expectTime(stamp: string | null | undefined, second: number, lost: ReadonlySet<number>): void {
  if (stamp === null || stamp === undefined) return;
  const told = Date.parse(stamp) / 1000;
  if (!lost.has(told)) expect(told).toBe(second);
}

/** From the first line that is not older to the last that is not newer, by the times that the log tells. */
async function expectRange(
  world: World,
  lines: readonly Line[],
  stamps: readonly (string | null)[],
  { since, until }: { readonly since: number; readonly until: number },
): Promise<void> {
  const known = lines.flatMap(({ number }, index) => {
    const stamp = stamps[index];
    return typeof stamp === 'string' ? [{ number, second: Date.parse(stamp) / 1000 }] : [];
  });
  const first = known.find(({ second }) => second >= since)?.number ?? Number.POSITIVE_INFINITY;
  const last = known.findLast(({ second }) => second <= until)?.number ?? 0;
  const wanted = lines.filter(({ number }) => number >= first && number <= last);
  const found = await read(world, { since: { at: since * 1000 }, until: { at: until * 1000 + 999 } });
  expect(found.lines).toEqual(wanted.map((line) => line.text));
  if (wanted.length > 0) expect(found.firstLine).toBe(wanted[0]?.number);
  const ago = await read(world, { since: { ago: (world.second - since) * 1000 } });
  expect(ago.lines).toEqual(lines.filter(({ number }) => number >= first).map((line) => line.text));
}

async function expectPart(
  world: World,
  lines: readonly Line[],
  cut: readonly [number, number],
): Promise<void> {
  const at = (part: number): Line | undefined => lines[Math.floor(part * lines.length)];
  const [from, to] = [at(Math.min(...cut)), at(Math.max(...cut))];
  if (from === undefined || to === undefined) return;
  const wanted = lines.filter(({ number }) => number >= from.number && number <= to.number).slice(-3);
  const found = await read(world, { since: { line: from.number }, until: { line: to.number }, lines: 3 });
  expect(found).toMatchObject({ first: from.number, last: to.number, firstLine: wanted[0]?.number });
  expect(found.lines).toEqual(wanted.map((line) => line.text));
}

function expectBounds(world: World): void {
  const kept = new Set(world.segments.map(({ path }) => path));
  for (const name of fs.readdirSync(world.directory).filter((one) => one.endsWith('.times')))
    expect(kept.has(join(world.directory, name.replace('.times', '.log')))).toBe(true);
}
