/** Reading the end of a log, over segments, with any other files in its directory. */
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SegmentCounts } from '../../../src/logs/segment-counts.js';
import { readLastLines } from '../../../src/logs/tail.js';
import { bytesRead } from '../../support/bytes-read.js';

let directory: string;
beforeEach(() => {
  directory = fs.mkdtempSync(join(tmpdir(), 'drover-tail-'));
});
afterEach(() => fs.rmSync(directory, { recursive: true }));

function segment(firstLine: number, content: string | Buffer): void {
  fs.writeFileSync(join(directory, `${String(firstLine).padStart(12, '0')}.log`), content);
}

it('reads an empty log where there is no directory and where there is no output', async () => {
  const empty = { lines: [], totalLines: 0 };
  expect(await readLastLines(join(directory, 'nowhere'), 10)).toEqual(empty);
  expect(await readLastLines(directory, 10)).toEqual(empty);
  segment(1, '');
  expect(await readLastLines(directory, 10)).toEqual(empty);
});

it('reads over segments and counts lines of segments that are gone', async () => {
  segment(101, 'line 101\nline 102\n');
  segment(103, 'line 103\n');
  segment(104, '');
  segment(105, 'not this far yet');
  expect(await readLastLines(directory, 3)).toEqual({
    lines: ['line 102', 'line 103', 'not this far yet'],
    totalLines: 105,
  });
  expect((await readLastLines(directory, 100)).lines).toHaveLength(4);
});

it('reads no more bytes than wanted, but for the blocks and segments that it began', async () => {
  const block = `${'x'.repeat(1023)}\n`.repeat(256);
  for (let n = 0; n < 4; n++) segment(1 + n * 256, block);
  const { lines, totalLines } = await readLastLines(directory, 1000, undefined, 300 * 1024);
  expect(totalLines).toBe(1024);
  expect(lines.length).toBeGreaterThanOrEqual(300);
  expect(lines.length).toBeLessThanOrEqual(512);
});

it('counts everything and shows nothing when no line is wanted', async () => {
  segment(1, 'a\nb\nc\n');
  expect(await readLastLines(directory, 0)).toEqual({ lines: [], totalLines: 3 });
});

it('finds lines at every distance from a block border', async () => {
  for (let shift = -3; shift <= 3; shift++) {
    const filler = `${'x'.repeat(99)}\n`.repeat(655) + 'y'.repeat(35 + shift);
    segment(1, `first\n${filler}\nlast\n`);
    const { lines, totalLines } = await readLastLines(directory, 2);
    expect([totalLines, ...lines]).toEqual([658, 'y'.repeat(35 + shift), 'last']);
    expect((await readLastLines(directory, 658)).lines.at(0)).toBe('first');
  }
});

it('reads only the end of a large log', async () => {
  segment(1, Buffer.alloc(64 * 1024 * 1024, `${'x'.repeat(63)}\n`));
  // The first look counts all lines.
  const counts = new SegmentCounts();
  await readLastLines(directory, 0, counts);
  const before = bytesRead();
  const { lines, totalLines } = await readLastLines(directory, 1000, counts);
  expect([lines.length, totalLines]).toEqual([1000, 1024 * 1024]);
  expect(bytesRead() - before).toBeLessThan(16 * 1024 * 1024);
});

it('replaces invalid UTF-8 and keeps escape sequences, empty lines and carriage returns', async () => {
  segment(1, Buffer.from('\x1b[31mred\x1b[0m\n\ncaf\xe9\ndos\r\n', 'latin1'));
  expect((await readLastLines(directory, 10)).lines).toEqual([
    '\x1b[31mred\x1b[0m',
    '',
    'caf\ufffd',
    'dos\r',
  ]);
});

it('shows a very long line cut, and says so', async () => {
  segment(1, `short\n${'x'.repeat(200_000)}\nend\n`);
  const { lines, totalLines } = await readLastLines(directory, 2);
  expect(totalLines).toBe(3);
  expect(lines[1]).toBe('end');
  expect(lines[0]).toBe(`${'x'.repeat(65_536)} [drover] line cut here, it has 200000 bytes`);
});

it('reads no link, no FIFO and no foreign file', async () => {
  segment(1, 'own\n');
  fs.writeFileSync(join(directory, 'secret.txt'), 'secret\n');
  fs.symlinkSync(join(directory, 'secret.txt'), join(directory, '000000000002.log'));
  execFileSync('mkfifo', [join(directory, '000000000003.log')]);
  fs.mkdirSync(join(directory, '000000000004.log'));
  expect(await readLastLines(directory, 10)).toEqual({ lines: ['own'], totalLines: 1 });
});
