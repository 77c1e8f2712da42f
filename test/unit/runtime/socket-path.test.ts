/** Where sockets are, and that no other user can put something in their place. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { resolveSocketPath } from '../../../src/runtime/socket-path.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'drover-sockets-'));
});
afterEach(() => rmSync(root, { recursive: true }));

it('lies in its own directory, which is made for its user alone', () => {
  const directory = join(root, 'data', 'sockets');
  expect(resolveSocketPath(directory, 'owner.sock')).toBe(join(directory, 'owner.sock'));
  expect(statSync(directory).mode & 0o777).toBe(0o700);
});

it('is refused when it is too long, and nothing is put elsewhere', () => {
  expect(() => resolveSocketPath(join(root, 'x'.repeat(100)), 'owner.sock')).toThrow(
    /owner\.sock is too long for a Unix socket/,
  );
});

it('refuses a directory that others may enter', () => {
  mkdirSync(join(root, 'open'));
  chmodSync(join(root, 'open'), 0o755);
  expect(() => resolveSocketPath(join(root, 'open'), 'owner.sock')).toThrow(
    /open to other users; chmod it to 700/,
  );
});
