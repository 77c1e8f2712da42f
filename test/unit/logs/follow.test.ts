/** Following a log: from any line, over segments, through rotation, and whatever an instance writes. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { followLog } from '../../../src/logs/follow.js';
import type { LogBatch, LogPosition } from '../../../src/logs/log-batch.js';
import { LogWatches } from '../../../src/logs/log-watches.js';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';
import { bytesRead } from '../../support/bytes-read.js';
import { LogFiles, LogReader, textOf } from '../../support/runtime/log-files.js';

let log: LogFiles;
let watches: LogWatches;
let readers: LogReader[];
beforeEach(() => {
  log = new LogFiles();
  watches = new LogWatches();
  readers = [];
});
afterEach(async () => {
  for (const reader of readers) await reader.stop();
  expect(watches.size).toBe(0);
  log.remove();
});

function open(position: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
  return followLog(log.directory, position, { counts: new SegmentCounts(), watches, signal });
}

function follow(position: LogPosition): LogReader {
  const reader = new LogReader((signal) => open(position, signal));
  readers.push(reader);
  return reader;
}

/** How many files of the log this process holds open. */
function openFiles(): number {
  return fs.readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(log.directory);
    } catch {
      return false;
    }
  }).length;
}

it('gives the last lines over segments, then what is written', async () => {
  log.write(1, 'one\ntwo\n');
  log.write(3, 'three\n');
  const reader = follow({ tail: 2 });
  expect(await reader.until('3 three')).toEqual(['2 two', '3 three']);
  log.write(3, 'four\n');
  expect(await reader.until('4 four')).toEqual(['2 two', '3 three', '4 four']);
});

it('gives only new lines when none of the kept ones is wanted', async () => {
  log.write(1, 'one\ntwo\nthr');
  const reader = follow({ tail: 0 });
  const other = follow({ tail: 1 });
  await other.until('2 two');
  log.write(1, 'ee\n');
  expect(await reader.until('3 three')).toEqual(['3 three']);
});

it('resumes at a line number, in whatever segment it lies', async () => {
  log.write(1, 'one\ntwo\n');
  log.write(3, 'three\nfour\n');
  log.write(5, 'five\n');
  const expected = ['1 one', '2 two', '3 three', '4 four', '5 five'];
  for (let since = 1; since <= 5; since++)
    expect(await follow({ since }).until('5 five')).toEqual(expected.slice(since - 1));
});

it('waits for a line that is not written yet', async () => {
  log.write(1, 'one\n');
  const reader = follow({ since: 3 });
  const other = follow({ since: 1 });
  await other.until('1 one');
  log.write(1, 'two\nthree\n');
  expect(await reader.until('3 three')).toEqual(['3 three']);
});

it('names the lines that are no longer kept, and goes on behind them', async () => {
  log.write(101, 'a\n');
  expect(await follow({ since: 7 }).until('101 a')).toEqual(['gap 7-100', '101 a']);
  expect(await follow({ tail: 1000 }).until('101 a')).toEqual(['101 a']);
});

it('waits for a log that is not there yet', async () => {
  const reader = follow({ tail: 100 });
  const other = follow({ since: 1 });
  log.write(1, 'first\n');
  await reader.until('1 first');
  log.write(1, 'second\n');
  expect(await reader.until('2 second')).toEqual(['1 first', '2 second']);
  await other.until('2 second');
});

it('finds its way without the notices of the system', async () => {
  watches = new LogWatches({
    pollMs: 5,
    watch: () => {
      throw new Error('ENOSPC: no space left for watches');
    },
  });
  const reader = follow({ since: 1 });
  log.write(1, 'a\n');
  await reader.until('1 a');
  log.write(2, 'b\n');
  await reader.until('2 b');
});

it('shares one watch among the followers of a log', async () => {
  log.write(1, 'a\n');
  await Promise.all([1, 2, 3].map(() => follow({ tail: 1 }).until('1 a')));
  expect(watches.size).toBe(1);
});

it('holds an unfinished line back until it is whole', async () => {
  log.write(1, 'a\nhalf');
  const reader = follow({ since: 1 });
  await reader.until('1 a');
  log.write(1, ' and half\n');
  expect(await reader.until('2 half and half')).toEqual(['1 a', '2 half and half']);
});

it('gives the last words of a run when the next begins', async () => {
  const writer = new SegmentWriter(log.directory, { segmentBytes: 1000, segments: 2 });
  writer.write(Buffer.from('Segmentation fault'));
  const reader = follow({ since: 1 });
  writer.endLine();
  writer.close();
  await reader.until('1 Segmentation fault');
});

it('moves on with a line that the rotation took along, and counts one that was cut', async () => {
  const writer = new SegmentWriter(log.directory, { segmentBytes: 12, segments: 100 });
  const reader = follow({ since: 1 });
  writer.write(Buffer.from('a\nb\nhalf'));
  await reader.until('2 b');
  writer.write(Buffer.from('-whole\n'));
  await reader.until('3 half-whole');
  writer.write(Buffer.from('123456789012345\nend\n'));
  writer.close();
  expect((await reader.until('6 end')).slice(3)).toEqual(['4 123456789012', '5 345', '6 end']);
});

it('reads what is rotated away under it to its end, and names only what it could not see', async () => {
  log.write(1, 'a\nb\n');
  const stop = new AbortController();
  const batches = open({ since: 1 }, stop.signal);
  expect(textOf((await batches.next()).value)).toEqual(['1 a', '2 b']);
  log.write(1, 'c\n');
  log.write(4, 'd\n');
  fs.rmSync(log.pathOf(1));
  fs.rmSync(log.pathOf(4));
  log.write(5, 'e\n');
  const seen: string[] = [];
  for (let i = 0; i < 3; i++) seen.push(...textOf((await batches.next()).value));
  expect(seen).toEqual(['3 c', 'gap 4-4', '5 e']);
  await batches.return(undefined);
  expect(openFiles()).toBe(0);
});

it('goes back to a segment when a rotation failed and was undone', async () => {
  log.write(1, 'a\nhal');
  const reader = follow({ since: 1 });
  await reader.until('1 a');
  log.write(2, 'hal');
  fs.rmSync(log.pathOf(2));
  log.write(1, 'f\nb\n');
  expect(await reader.until('3 b')).toEqual(['1 a', '2 half', '3 b']);
});

it('drops what it held of a line that was cut off the file', async () => {
  log.write(1, 'a\n[drover] 17 byt');
  const reader = follow({ since: 1 });
  await reader.until('1 a');
  fs.truncateSync(log.pathOf(1), 2);
  // Another segment makes it look again; the file is shorter than what it read.
  log.write(2, 'b\n');
  expect(await reader.until('2 b')).toEqual(['1 a', '2 b']);
});

it('keeps characters whole at the edges of blocks and replaces what is no text', async () => {
  for (let shift = 0; shift < 4; shift++) log.write(1, `${'x'.repeat(65_530 - shift)}\u{1f411}é\n`);
  log.write(1, Buffer.from('caf\xe9 \xf0\x9f\n\x1b[31mred\x1b[0m\r\n', 'latin1'));
  const reader = follow({ since: 1 });
  const seen = await reader.until('6 \x1b[31mred\x1b[0m\r');
  expect(seen.slice(0, 4).every((line) => line.endsWith('x\u{1f411}é'))).toBe(true);
  expect(seen[4]).toBe('5 caf\ufffd \ufffd');
});

it('cuts a line of 10 MB, says so, and goes on', async () => {
  log.write(1, `a\n${'x'.repeat(10_000_000)}\nb\n`);
  const seen = await follow({ since: 1 }).until('3 b');
  expect(seen[1]).toBe(`2 ${'x'.repeat(65_536)} [drover] line cut here, it has 10000000 bytes`);
});

it('shows behind the cut what a terminal shows in the end, as behind a progress bar', async () => {
  const bar = '\r[ 10%] downloading'.repeat(10_000);
  for (const end of ['\rServer ready', '\rServer ready\r']) {
    log.write(1, `${bar}${end}\nb\n`);
    const seen = await follow({ since: 1 }).until('2 b');
    expect(seen[0]?.endsWith(`line cut here, it has ${bar.length + end.length} bytes\rServer ready`)).toBe(
      true,
    );
    fs.rmSync(log.directory, { recursive: true });
    fs.mkdirSync(log.directory);
  }
});

it('gives batches of a bounded size', async () => {
  log.write(1, '\n'.repeat(5000) + `${'y'.repeat(30_000)}\n`.repeat(20));
  const reader = follow({ since: 1 });
  await reader.until(`5020 ${'y'.repeat(30_000)}`);
  for (const batch of reader.batches) {
    if (batch.kind === 'gap') expect.fail('there is no gap');
    expect(batch.lines.length).toBeLessThanOrEqual(1000);
    expect(batch.lines.join('').length).toBeLessThanOrEqual(65_536);
  }
});

it('reads nothing ahead for a reader that does not ask', async () => {
  const line = `${'z'.repeat(99)}\n`;
  log.write(1, line.repeat(1000));
  const stop = new AbortController();
  const batches = open({ since: 1 }, stop.signal);
  await batches.next();
  const before = bytesRead();
  log.write(1, line.repeat(300_000));
  // The watch over the log tells of the write meanwhile.
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
  expect(bytesRead() - before).toBeLessThan(4_000_000);
  let lines = 0;
  for await (const batch of batches) {
    if (batch.kind === 'lines') lines = batch.firstLine + batch.lines.length - 1;
    if (lines === 301_000) break;
  }
  expect(lines).toBe(301_000);
  expect(openFiles()).toBe(0);
});

it('follows no link and reads no FIFO, and goes on when a real segment comes', async () => {
  log.write(1, 'own\n');
  fs.writeFileSync(join(log.directory, 'secret.txt'), 'secret\n');
  fs.symlinkSync(join(log.directory, 'secret.txt'), log.pathOf(2));
  execFileSync('mkfifo', [log.pathOf(3)]);
  fs.mkdirSync(log.pathOf(4));
  const reader = follow({ since: 1 });
  await reader.until('1 own');
  log.write(5, 'more\n');
  expect(await reader.until('5 more')).toEqual(['1 own', 'gap 2-4', '5 more']);
});

it('follows no link that stands in place of the directory', async () => {
  log.write(1, 'own\n');
  const real = `${log.directory}-real`;
  fs.renameSync(log.directory, real);
  fs.symlinkSync(real, log.directory);
  const reader = follow({ since: 1 });
  const other = new LogReader((signal) =>
    followLog(real, { since: 1 }, { counts: new SegmentCounts(), watches, signal }),
  );
  readers.push(other);
  await other.until('1 own');
  fs.unlinkSync(log.directory);
  log.write(1, 'mine\n');
  expect(await reader.until('1 mine')).toEqual(['1 mine']);
});

it('ends at once, with every file closed, when it is told to', async () => {
  log.write(1, 'a\n');
  const reader = follow({ since: 1 });
  await reader.until('1 a');
  expect(openFiles()).toBe(1);
  await reader.stop();
  expect(openFiles()).toBe(0);
  const stopped = open({ since: 1 }, AbortSignal.abort());
  expect((await stopped.next()).done).toBe(true);
});

it('loses and repeats nothing while the log rotates as fast as it can', async () => {
  const writer = new SegmentWriter(log.directory, { segmentBytes: 4096, segments: 1000 });
  const all = [1, 2, 3].map(() => follow({ since: 1 }));
  const expected: string[] = [];
  for (let turn = 0; turn < 200; turn++) {
    const chunk = Array.from({ length: 50 }, (_, i) => `line ${turn * 50 + i + 1}`);
    expected.push(...chunk.map((line, i) => `${turn * 50 + i + 1} ${line}`));
    const bytes = Buffer.from(`${chunk.join('\n')}\n`);
    const cut = (turn * 37) % bytes.length;
    writer.write(bytes.subarray(0, cut));
    await new Promise(setImmediate);
    writer.write(bytes.subarray(cut));
    await new Promise(setImmediate);
  }
  writer.close();
  for (const reader of all) expect(await reader.until('10000 line 10000')).toEqual(expected);
});
