/** A search of a log finds what it holds, from the end on, whatever the borders of segments and blocks. */
import { appendFileSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LogSearchQuery, searchLog } from '../../../src/logs/search/log-search.js';
import { SegmentWriter } from '../../../src/logs/segment-writer.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-search-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

function write(text: string, segmentBytes: number, segments = 64): void {
  const writer = new SegmentWriter(directory, { segmentBytes, segments });
  writer.write(Buffer.from(text));
  writer.close();
}

const search = (
  query: Partial<LogSearchQuery> & { pattern: string },
  signal = new AbortController().signal,
) => searchLog(directory, { ignoreCase: false, limit: 1000, ...query }, signal);

/** All that is found, over as many calls as it takes, oldest first. */
async function everything(query: Partial<LogSearchQuery> & { pattern: string }) {
  const found: { line: number; text: string }[] = [];
  let calls = 0;
  for (let before = query.before; ; calls++) {
    const { lines, next } = await search({ ...query, before });
    found.push(...lines);
    if (next === null) return { found: found.toReversed(), calls: calls + 1 };
    expect(next).toBeLessThan(before ?? Number.POSITIVE_INFINITY);
    before = next;
  }
}

it('finds each line once with its number, in segments and blocks of every size', async () => {
  const lines = Array.from({ length: 400 }, (_, index) =>
    index % 7 === 0 ? '' : `${'é'.repeat(index % 50)} line ${index % 3 === 0 ? 'ERROR' : 'ok'} ${index}`,
  );
  const expected = lines.flatMap((text, index) =>
    text.includes('ERROR') ? [{ line: index + 1, text }] : [],
  );
  for (const segmentBytes of [150, 500, 100_000]) {
    rmSync(directory, { recursive: true });
    write(`${lines.join('\n')}\n`, segmentBytes, 10_000);
    expect((await everything({ pattern: 'ERROR' })).found).toEqual(expected);
    const paged = await everything({ pattern: 'ERROR', limit: 7 });
    expect(paged.found).toEqual(expected);
    expect(paged.calls).toBeGreaterThan(expected.length / 7);
    for (const before of [1, 2, 100, 203, 400, 401, 9999])
      expect((await everything({ pattern: 'ERROR', before })).found, `before ${before}`).toEqual(
        expected.filter(({ line }) => line < before),
      );
  }
});

it('reads lines that are longer than a block, and cuts them like every reader', async () => {
  const long = `begin ${'x'.repeat(150_000)} end`;
  write(`one\n${long}\ntwo begin\n`, 1024 * 1024);
  const { lines, next } = await search({ pattern: 'begin' });
  expect(next).toBeNull();
  expect(lines.map(({ line }) => line)).toEqual([3, 2]);
  expect(lines[1]?.text).toMatch(/^begin x{65530} \[drover\] line cut here, it has 150010 bytes$/);
});

it('finds what stands at the end of a long line behind a progress bar', async () => {
  write(`${'\r[ 10%] downloading'.repeat(10_000)}\rServer ready\r\ntwo\n`, 1024 * 1024);
  const { lines } = await search({ pattern: 'Server ready' });
  expect(lines[0]?.text.slice(-60)).toMatch(/it has 190014 bytes\rServer ready$/);
});

it('finds lines that were cut with their segment, and none that has no newline yet', async () => {
  write(`a\n${'x'.repeat(30)}\nb x\nx unfinished`, 20);
  expect((await everything({ pattern: 'x' })).found).toEqual([
    { line: 2, text: 'x'.repeat(20) },
    { line: 3, text: 'x'.repeat(10) },
    { line: 4, text: 'b x' },
  ]);
});

it('takes * for anything, and leaves escape sequences and, if asked, case out', async () => {
  write('\x1b[31mRed\x1b[0m alert 1\nred alert 2\nalert red\n', 1000);
  const numbers = async (query: Partial<LogSearchQuery> & { pattern: string }) =>
    (await search(query)).lines.map(({ line }) => line);
  expect(await numbers({ pattern: 'red*alert' })).toEqual([2]);
  expect(await numbers({ pattern: 'RED ALERT', ignoreCase: true })).toEqual([2, 1]);
  expect(await numbers({ pattern: '[31m' })).toEqual([]);
  expect((await search({ pattern: 'Red' })).lines[0]?.text).toBe('\x1b[31mRed\x1b[0m alert 1');
});

it('reads no more than 16 MiB and answers no more than 1 MiB with one call, and can be stopped', async () => {
  write(`hit\n${`${'y'.repeat(1023)}\n`.repeat(20 * 1024)}`, 64 * 1024 * 1024);
  const first = await search({ pattern: 'hit' });
  expect(first.lines).toEqual([]);
  expect(20 * 1024 + 2 - (first.next ?? 0)).toBeCloseTo(16 * 1024, -2);
  expect((await everything({ pattern: 'hit' })).found).toEqual([{ line: 1, text: 'hit' }]);
  const large = await search({ pattern: 'y' });
  expect(large.lines.length * 1023).toBeLessThan(1024 * 1024 + 65_536);
  expect(large.next).toBe(large.lines.at(-1)?.line);
  const stopped = await search({ pattern: 'hit' }, AbortSignal.abort());
  expect(stopped.next).toBeGreaterThan(20 * 1024 - 200);
});

it('finds nothing in an empty log, and goes by what is left of one', async () => {
  expect(await search({ pattern: 'x' })).toEqual({ lines: [], next: null });
  write('x 1\nx 2\nx 3\nx 4\n', 8);
  const [oldest = ''] = readdirSync(directory)
    .filter((name) => name.endsWith('.log'))
    .sort();
  rmSync(join(directory, oldest));
  expect((await everything({ pattern: 'x' })).found).toEqual([
    { line: 3, text: 'x 3' },
    { line: 4, text: 'x 4' },
  ]);
  writeFileSync(join(directory, 'other.log'), 'x\n');
  appendFileSync(join(directory, '000000000003.log'), 'x 5\n');
  expect((await search({ pattern: 'x 5' })).lines).toEqual([{ line: 5, text: 'x 5' }]);
});
