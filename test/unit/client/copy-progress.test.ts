/** What a long copy says at a terminal, and that it says nothing elsewhere. */
import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { bytesText, withProgress } from '../../../src/client/copy/progress.js';

async function* pieces(count: number): AsyncGenerator<Buffer> {
  for (let index = 0; index < count; index++) yield Buffer.alloc(500_000);
}

/** What is said of a copy of four pieces that takes so long. */
async function saidOf(stepMs: number, isTTY: boolean): Promise<string> {
  const stderr = Object.assign(new PassThrough({ encoding: 'utf8' }), { isTTY });
  let at = -stepMs;
  const now = (): number => {
    at += stepMs;
    return at;
  };
  let bytes = 0;
  for await (const piece of withProgress(pieces(4), 'x', stderr, now)) bytes += piece.length;
  expect(bytes).toBe(2_000_000);
  return String(stderr.read() ?? '');
}

it('says how far it is after a second, and clears the line at the end', async () => {
  const clear = '\r\x1b[K';
  expect(await saidOf(500, true)).toBe(`${clear}x: 1.0 MB${clear}x: 1.5 MB${clear}x: 2.0 MB${clear}`);
  expect(await saidOf(100, true)).toBe('');
  expect(await saidOf(500, false)).toBe('');
});

it('writes sizes as people read them', () => {
  expect([0, 999, 1000, 1_500_000, 2_340_000_000].map(bytesText)).toEqual([
    '0 bytes',
    '999 bytes',
    '1.0 kB',
    '1.5 MB',
    '2.3 GB',
  ]);
});
