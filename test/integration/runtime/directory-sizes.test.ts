/** Working directories and their sizes, on a real disk. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { directorySizes, instanceDirectories } from '../../../src/runtime/installation/directory-sizes.js';

let running: string;
beforeEach(() => {
  running = mkdtempSync(join(tmpdir(), 'drover-sizes-'));
});
afterEach(() => rmSync(running, { recursive: true, force: true }));

it('names directories of instances only, and none where there is no running/', async () => {
  mkdirSync(join(running, 'abc123'));
  mkdirSync(join(running, '.staging-abc123-00'));
  mkdirSync(join(running, 'by-hand'));
  writeFileSync(join(running, 'file01'), '');
  symlinkSync('/', join(running, 'link01'));
  expect(await instanceDirectories(running)).toEqual(['abc123']);
  expect(await instanceDirectories(join(running, 'nothing'))).toEqual([]);
});

it('counts the files of whole trees and follows no link; what is gone is left out', async () => {
  mkdirSync(join(running, 'abc123', 'world', 'region'), { recursive: true });
  writeFileSync(join(running, 'abc123', 'one'), 'x'.repeat(1000));
  writeFileSync(join(running, 'abc123', 'world', 'region', 'two'), 'x'.repeat(234));
  symlinkSync('/', join(running, 'abc123', 'everything'));
  mkdirSync(join(running, 'empty1'));
  expect(await directorySizes(running, ['abc123', 'empty1', 'gone01'])).toEqual(
    new Map([
      ['abc123', 1234],
      ['empty1', 0],
    ]),
  );
});

it('gives up on what is too large to be counted', async () => {
  for (const id of ['small1', 'large1', 'small2']) mkdirSync(join(running, id));
  writeFileSync(join(running, 'small1', 'one'), 'x');
  for (let file = 0; file < 10; file++) writeFileSync(join(running, 'large1', String(file)), 'x');
  expect(await directorySizes(running, ['small1', 'large1', 'small2'], 5)).toEqual(new Map([['small1', 1]]));
});
