/** The kernel's lock of an open file: who waits gets it when it is free, or is told that it is not. */
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lockOpenFile } from '../../../src/files/lock-open-file.js';

let directory: string;
let holder: number;
let other: number;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-lock-'));
  holder = openSync(join(directory, 'lock'), 'w');
  other = openSync(join(directory, 'lock'), 'w');
  expect(await lockOpenFile(holder)).toBe(true);
});
afterEach(() => {
  closeSync(other);
  rmSync(directory, { recursive: true });
});

it('is refused while another one has it, at once or after the wait', async () => {
  expect(await lockOpenFile(other)).toBe(false);
  expect(await lockOpenFile(other, 50)).toBe(false);
  closeSync(holder);
});

it('is given to the one that waits as soon as it is free', async () => {
  const waiting = lockOpenFile(other, 120_000);
  closeSync(holder);
  expect(await waiting).toBe(true);
});
