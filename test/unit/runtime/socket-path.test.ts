/** Where sockets are, and that no other user can put something in their place. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { resolveSocketPath } from '../../../src/runtime/socket-path.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-sockets-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const longDirectory = (name: string): string => join(root, 'x'.repeat(100), name);
const removeAfter = (path: string): void => rmSync(dirname(path), { recursive: true });

it('lies in its own directory, which is made for its user alone', () => {
  const directory = join(root, 'data', 'sockets');
  expect(resolveSocketPath(directory, 'owner.sock')).toBe(join(directory, 'owner.sock'));
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

it('falls back to a private directory of its own per root when the path is too long', () => {
  const [one, again, other] = ['one', 'one', 'other'].map((name) =>
    resolveSocketPath(longDirectory(name), 'owner.sock'),
  );
  expect(one).toBe(again);
  expect(one).not.toBe(other);
  for (const path of [one ?? '', other ?? '']) {
    expect(Buffer.byteLength(path)).toBeLessThan(108);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    removeAfter(path);
  }
});

it('refuses a directory that others may enter', () => {
  mkdirSync(join(root, 'open'));
  chmodSync(join(root, 'open'), 0o755);
  expect(() => resolveSocketPath(join(root, 'open'), 'owner.sock')).toThrow(
    /open to other users; chmod it to 700/,
  );
});

it('refuses a link that somebody put under the fallback name', () => {
  const path = resolveSocketPath(longDirectory('one'), 'owner.sock');
  removeAfter(path);
  mkdirSync(join(root, 'trap'), { mode: 0o700 });
  symlinkSync(join(root, 'trap'), dirname(path));
  expect(() => resolveSocketPath(longDirectory('one'), 'owner.sock')).toThrow(/is not a directory/);
  rmSync(dirname(path));
  expect(existsSync(join(root, 'trap', 'owner.sock'))).toBe(false);
});
