/** The times of log lines: what is kept, what is found by them, and what is said when they are not known. */
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { timestampsOf } from '../../../src/logs/line-times.js';
import {
  type LogRange,
  type LogRangeQuery,
  readLineTimes,
  readLogRange,
} from '../../../src/logs/log-range.js';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';
import { ENTRY_BYTES } from '../../../src/logs/time-index.js';

const BEGIN = Date.UTC(2025, 0, 31, 12, 0, 0) / 1000;
const LOG = '000000000001.log';
const INDEX = '000000000001.times';

let directory: string;
let second: number;
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'drover-log-times-'));
  second = BEGIN;
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

const open = (segmentBytes = 4096, segments = 3): SegmentWriter =>
  new SegmentWriter(directory, { segmentBytes, segments }, () => second * 1000 + 700);

function at(when: number, writer: SegmentWriter, text: string): void {
  second = BEGIN + when;
  writer.write(Buffer.from(text));
  // As the system would date it: what was written now has a date after all others.
  for (const path of fs.readdirSync(directory).map((name) => join(directory, name)))
    if (fs.statSync(path).mtimeMs / 1000 > second + 1000) fs.utimesSync(path, second, second);
}

function read(query: Partial<LogRangeQuery> = {}): Promise<LogRange> {
  return readLogRange(directory, { lines: 1000, now: second * 1000, ...query }, new SegmentCounts());
}

/** `<seconds since BEGIN> <line>`, `-` for a time that is not known. */
async function timed(query: Partial<LogRangeQuery> = {}): Promise<string[]> {
  const { firstLine, lines, times } = await read(query);
  const stamps = timestampsOf(times, firstLine, lines.length);
  return lines.map((line, index) => {
    const stamp = stamps[index];
    return `${typeof stamp === 'string' ? Date.parse(stamp) / 1000 - BEGIN : '-'} ${line}`;
  });
}

const entries = (): number => fs.statSync(join(directory, INDEX)).size / ENTRY_BYTES;
const point = (when: number): { at: number } => ({ at: (BEGIN + when) * 1000 });

describe('the index', () => {
  it('has one entry for a second in which something was written, and a line has the time of its end', async () => {
    const writer = open();
    at(0, writer, 'one\ntwo\n');
    at(0, writer, 'three\nfo');
    at(7, writer, 'ur\nfive\n');
    at(9, writer, 'six');
    expect(entries()).toBe(3);
    expect(await timed()).toEqual(['0 one', '0 two', '0 three', '7 four', '7 five', '9 six']);
    expect(timestampsOf((await read()).times, 1, 1)).toEqual(['2025-01-31T12:00:00Z']);
    writer.close();
  });

  it('goes on where a killed writer stopped, also after a torn entry', async () => {
    at(0, open(), 'one\n');
    at(2, open(), 'two\nth');
    fs.appendFileSync(join(directory, INDEX), Buffer.alloc(5));
    second = BEGIN + 2;
    const writer = open();
    at(5, writer, 'ree\n');
    expect(fs.statSync(join(directory, INDEX)).size % ENTRY_BYTES).toBe(0);
    expect(await timed()).toEqual(['0 one', '- two', '5 three']);
    writer.close();
  });

  it('leaves the times open around a damaged entry, and is right before and after', async () => {
    const writer = open();
    for (const when of [0, 1, 2, 3, 4]) at(when, writer, `line ${when}\n`);
    writer.close();
    const bytes = fs.readFileSync(join(directory, INDEX));
    bytes.fill(0, 2 * ENTRY_BYTES, 3 * ENTRY_BYTES);
    fs.writeFileSync(join(directory, INDEX), bytes);
    expect(await timed()).toEqual(['0 line 0', '- line 1', '- line 2', '3 line 3', '4 line 4']);
    expect((await read()).untimedLines).toBe(2);
    expect(await timed({ since: point(1), until: point(3) })).toEqual(['3 line 3']);
  });

  it('says nothing of lines that a writer without times wrote', async () => {
    fs.writeFileSync(join(directory, LOG), 'old 1\nold 2\n');
    const writer = open();
    at(10, writer, 'new\n');
    writer.close();
    expect(await timed()).toEqual(['- old 1', '- old 2', '10 new']);
    fs.appendFileSync(join(directory, LOG), 'old again\n');
    fs.utimesSync(join(directory, LOG), BEGIN + 50, BEGIN + 50);
    expect(await timed()).toEqual(['- old 1', '- old 2', '- new', '- old again']);
    const next = open();
    at(60, next, 'newest\n');
    next.close();
    expect(await timed()).toEqual(['- old 1', '- old 2', '- new', '- old again', '60 newest']);
    expect(await timed({ since: { ago: 10_000 } })).toEqual(['60 newest']);
  });

  it('is bounded however many seconds write a little', () => {
    const writer = open(1024 * 1024);
    for (second = BEGIN; second < BEGIN + 20_000; second++) writer.write(Buffer.from('.\n'));
    writer.close();
    expect(entries()).toBeGreaterThan(4096);
    expect(entries()).toBeLessThan(4096 + 40_000 / 128 + 2);
  });

  it('goes with its segment', () => {
    const writer = open(20, 2);
    for (let when = 0; when < 20; when++) at(when, writer, `line ${when}\n`);
    fs.rmSync(join(directory, fs.readdirSync(directory).sort()[0] ?? ''));
    for (let when = 20; when < 40; when++) at(when, writer, `line ${when}\n`);
    writer.close();
    const names = fs.readdirSync(directory).sort();
    expect(names.filter((name) => name.endsWith('.times'))).toEqual(
      names.filter((name) => name.endsWith('.log')).map((name) => name.replace('.log', '.times')),
    );
  });

  it('that cannot be written costs the times and no output', async () => {
    fs.mkdirSync(join(directory, INDEX));
    const writer = open();
    at(0, writer, 'one\n');
    fs.rmdirSync(join(directory, INDEX));
    at(1, writer, 'two\n');
    writer.close();
    expect(await timed()).toEqual(['- one', '1 two']);
  });
});

describe('a part of the log', () => {
  it('goes from a time to a time, both included, over segments', async () => {
    const writer = open(30, 10);
    for (let when = 0; when < 30; when++) at(when, writer, `line ${when}\n`);
    writer.close();
    expect(await timed({ since: point(12), until: point(14) })).toEqual([
      '12 line 12',
      '13 line 13',
      '14 line 14',
    ]);
    expect(await timed({ since: { ago: 1000 } })).toEqual(['28 line 28', '29 line 29']);
    expect(await read({ since: point(5), lines: 2 })).toMatchObject({
      first: 6,
      last: 30,
      firstLine: 29,
      totalLines: 30,
      untimedLines: 0,
    });
    expect(await read({ since: point(99) })).toMatchObject({ first: 31, last: 30, lines: [] });
    expect(await read({ until: point(-1) })).toMatchObject({ first: 1, last: 0, lines: [] });
    expect(await readLineTimes(directory, 3, 4)).toEqual([
      [3, BEGIN + 2],
      [4, BEGIN + 3],
    ]);
  });

  it('is in the order of the log when the clock was set back, and loses no line', async () => {
    const writer = open();
    for (const when of [100, 101, 102, 98, 99, 103]) at(when, writer, `at ${when}\n`);
    writer.close();
    const since = await timed({ since: point(101) });
    expect(since).toEqual(['101 at 101', '102 at 102', '98 at 98', '99 at 99', '103 at 103']);
    expect(await timed({ until: point(99) })).toEqual([
      '100 at 100',
      '101 at 101',
      '102 at 102',
      '98 at 98',
      '99 at 99',
    ]);
  });

  it('is the output of one run, also when its last line moved to the next segment', async () => {
    const writer = open(40, 10);
    at(0, writer, 'before\n');
    const from = writer.position;
    at(1, writer, 'run 1\nrun 1 ends in the');
    const to = writer.position;
    at(2, writer, '\nthe next run, with more\n');
    writer.close();
    if (from === undefined || to === undefined) throw new Error('no log');
    expect(await timed({ within: { from, to } })).toEqual(['1 run 1', '2 run 1 ends in the']);
    expect((await read({ within: { from: to, to: { segment: 999, offset: 0 } } })).lines).toEqual([]);
  });

  it('of an empty log is empty', async () => {
    expect(await read({ since: point(0) })).toMatchObject({ first: 1, last: 0, lines: [], totalLines: 0 });
    fs.writeFileSync(join(directory, LOG), '');
    expect(await read()).toMatchObject({ lines: [], totalLines: 0, isUnfinished: false });
  });
});
