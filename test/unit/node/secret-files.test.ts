/** A secret that was changed, or is no file, is refused by its name and with what to do. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readAdminKey } from '../../../src/access/admin-key-file.js';
import { lockKeyOf } from '../../../src/node/hidden-names.js';
import { hexFile, SecretDirectory } from '../../../src/node/secret-files.js';

let base: string;
let data: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'drover-secrets-'));
  data = join(base, 'data');
  mkdirSync(data, { mode: 0o700 });
});
afterEach(() => rmSync(base, { recursive: true }));

const tokens = () => hexFile(join(data, 'tokens.secret'), 'remove it');

/** Each byte of the file in turn, flipped in its lowest bit, while `look` is called. */
async function forEachFlip(file: string, look: () => Promise<void>): Promise<void> {
  const sound = readFileSync(file);
  for (let at = 0; at < sound.length; at++) {
    const changed = Buffer.from(sound);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    writeFileSync(file, changed);
    await look();
  }
  writeFileSync(file, sound);
}

it('refuses a secret of bytes, or its checksum, with any byte flipped', async () => {
  const hex = '07'.repeat(32);
  expect(await tokens().read()).toBeUndefined();
  await tokens().write(hex);
  expect(statSync(join(data, 'tokens.secret.sum')).mode & 0o777).toBe(0o600);
  for (const name of ['tokens.secret', 'tokens.secret.sum'])
    await forEachFlip(join(data, name), () =>
      expect(tokens().read()).rejects.toMatchObject({
        code: 'DRV_NODE_ROOT_UNUSABLE',
        message: expect.stringMatching(/data\/tokens\.secret cannot be used: .+; remove it$/),
      }),
    );
  expect(await tokens().read()).toBe(hex);
  rmSync(join(data, 'tokens.secret'));
  expect(await tokens().read()).toBeUndefined();
  await tokens().write('08'.repeat(32));
  expect(await tokens().read()).toBe('08'.repeat(32));
});

it('takes a secret of an earlier version without a checksum, and gives it one', async () => {
  writeFileSync(join(data, 'tokens.secret'), Buffer.alloc(32, 9));
  expect(await tokens().read()).toBe('09'.repeat(32));
  writeFileSync(join(data, 'tokens.secret'), Buffer.alloc(32, 8));
  await expect(tokens().read()).rejects.toThrow('was changed after it was written');
});

it('refuses a key of locks, or its checksum, with any byte flipped', async () => {
  const key = await lockKeyOf(data);
  for (const name of ['lock.key', 'lock.key.sum'])
    await forEachFlip(join(data, name), () =>
      expect(lockKeyOf(data)).rejects.toThrow(
        /lock\.key cannot be used: .+; stop the instances of this root/,
      ),
    );
  expect(await lockKeyOf(data)).toBe(key);
});

it('gives a copied root a key of its own, the same at each start, and a moved root the one that it had', async () => {
  const key = await lockKeyOf(data);
  const copy = join(base, 'copy');
  cpSync(data, copy, { recursive: true });
  const [one, other] = await Promise.all([lockKeyOf(copy), lockKeyOf(copy)]);
  expect(one).toMatch(/^[0-9a-f]{24}$/);
  expect(one).not.toBe(key);
  expect(other).toBe(one);
  expect(await lockKeyOf(copy)).toBe(one);
  const copyOfCopy = join(base, 'copy-of-copy');
  cpSync(copy, copyOfCopy, { recursive: true });
  expect(new Set([key, one, await lockKeyOf(copyOfCopy)]).size).toBe(3);
  renameSync(data, join(base, 'moved'));
  expect(await lockKeyOf(join(base, 'moved'))).toBe(key);
});

describe.each(['a directory', 'a pipe'])('a secret that is %s', (what) => {
  const plant = (path: string): void => {
    if (what === 'a pipe') execFileSync('mkfifo', ['-m', '600', path]);
    else mkdirSync(path, { mode: 0o600 });
  };

  it('is refused at once, by its name', async () => {
    mkdirSync(join(data, 'cluster'), { mode: 0o700 });
    for (const name of ['tokens.secret', 'lock.key', 'admin.key', 'cluster/authority.pem'])
      plant(join(data, name));
    const reads: [string, () => Promise<unknown>][] = [
      ['tokens.secret', () => tokens().read()],
      ['lock.key', () => lockKeyOf(data)],
      ['admin.key', () => readAdminKey(join(data, 'admin.key'))],
      ['authority.pem', () => new SecretDirectory(join(data, 'cluster')).file('authority.pem').read()],
    ];
    for (const [name, read] of reads)
      await expect(read()).rejects.toMatchObject({
        code: 'DRV_NODE_ROOT_UNUSABLE',
        message: expect.stringMatching(new RegExp(`${name.replace('.', '\\.')}.*not a regular file`)),
      });
  });
});
