/** The limit of open files: what is refused, what fits into it, and how an error of the system is shown. */
import { open } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import {
  asFilesLimit,
  connectionsWithin,
  openFilesLimit,
  requireOpenFiles,
} from '../../../src/files/open-files.js';

const textOf = (files: string): string =>
  `Limit  Soft  Hard  Units\nMax open files            ${files}  4096  files\n`;

it('reads the limit of this process', () => {
  expect(['128', '20000', 'unlimited'].map((files) => openFilesLimit(textOf(files)))).toEqual([
    128,
    20_000,
    Number.POSITIVE_INFINITY,
  ]);
  expect(openFilesLimit()).toBeGreaterThan(0);
});

it('refuses a limit below the least, and names both', () => {
  expect(() => requireOpenFiles(128)).not.toThrow();
  expect(() => requireOpenFiles(127)).toThrow(
    'the limit of open files is 127, Drover needs at least 128: raise it (ulimit -n; in a unit of systemd: LimitNOFILE)',
  );
});

describe('the connections beside those of the API', () => {
  it('leave files to the node itself, whatever the limit', () => {
    for (const limit of [128, 160, 256, 512, 1024, 4096, 65_536]) {
      const all = limit / 2 + connectionsWithin(1 / 2, 1024, limit) + connectionsWithin(1 / 4, 1024, limit);
      expect(limit - all).toBeGreaterThanOrEqual(48);
    }
  });

  it('have their full number at a usual limit', () => {
    expect(connectionsWithin(1 / 4, 1024, 20_000)).toBe(1024);
    expect(connectionsWithin(1 / 4, 1024, Number.POSITIVE_INFINITY)).toBe(1024);
  });
});

it('shows the limit in place of the error of the system, and no other error', async () => {
  const failed = Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' });
  expect(asFilesLimit(failed)).toMatchObject({
    code: 'DRV_OVERLOADED',
    message: expect.stringContaining('raise it (ulimit -n'),
  });
  const missing: unknown = await open('/nowhere/at/all').catch((error: unknown) => error);
  expect(asFilesLimit(missing)).toBeUndefined();
});
