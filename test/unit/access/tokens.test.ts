import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureAdminKey } from '../../../src/access/admin-key.js';
import {
  generateToken,
  hashToken,
  InstanceTokens,
  isWellFormedToken,
  maskToken,
} from '../../../src/access/tokens.js';
import { apiKeyRecordSchema, withoutLimits } from '../../../src/model/access/api-key.js';
import { apiKeyKey } from '../../../src/store/keys.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const SECRET = Buffer.alloc(32, 1);

describe('key tokens', () => {
  it('have the prefix, 30 random base62 characters and a checksum', () => {
    const tokens = Array.from({ length: 200 }, generateToken);
    for (const token of tokens) expect(token).toMatch(/^drv_[0-9A-Za-z]{36}$/);
    expect(new Set(tokens).size).toBe(200);
    expect(tokens.every(isWellFormedToken)).toBe(true);
    expect(new Set(tokens.flatMap((token) => [...token.slice(4, 34)])).size).toBe(62);
  });

  it('are not well-formed with one character changed anywhere, too short, too long or padded', () => {
    const token = generateToken();
    for (let index = 0; index < token.length; index++) {
      const other = token[index] === 'a' ? 'b' : 'a';
      expect(isWellFormedToken(token.slice(0, index) + other + token.slice(index + 1))).toBe(false);
    }
    const bad = ['', 'drv_', token.slice(0, -1), `${token}a`, ` ${token}`, `${token}\n`, token.toUpperCase()];
    expect(bad.filter(isWellFormedToken)).toEqual([]);
  });

  it('are hashed with SHA-256 and masked down to the last four characters', () => {
    expect(hashToken('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
    const token = generateToken();
    expect(maskToken(token)).toBe(`drv_...${token.slice(-4)}`);
  });
});

describe('instance tokens', () => {
  const living = new Map([['abc123', 1000]]);
  const tokens = new InstanceTokens(SECRET, (id) => living.get(id));

  it('name their instance and are the same for the same instance', () => {
    const token = tokens.issue('abc123', 1000);
    expect(isWellFormedToken(token)).toBe(true);
    expect(tokens.verify(token)).toBe('abc123');
    expect(tokens.issue('abc123', 1000)).toBe(token);
  });

  it('are refused for another instance of the same id, for a gone one, and under another secret', () => {
    expect(tokens.verify(tokens.issue('abc123', 1001))).toBeUndefined();
    expect(tokens.verify(tokens.issue('gone00', 1000))).toBeUndefined();
    const other = new InstanceTokens(Buffer.alloc(32, 2), () => 1000);
    expect(tokens.verify(other.issue('abc123', 1000))).toBeUndefined();
  });

  it('are refused when the id is exchanged and the checksum made right again', () => {
    const open = new InstanceTokens(SECRET, () => 1000);
    const mine = open.issue('abc123', 1000);
    const theirs = open.issue('xyz789', 1000);
    expect(open.verify(theirs.slice(0, 10) + mine.slice(10))).toBeUndefined();
    expect(open.verify(generateToken())).toBeUndefined();
    expect(open.verify('drv_')).toBeUndefined();
  });

  it('need a secret of 32 bytes', () => {
    expect(() => new InstanceTokens(Buffer.alloc(16), () => 1)).toThrow('32 bytes');
  });
});

describe('the first admin key', () => {
  let directory: string;
  let path: string;
  let store: MemoryStore;
  const told: string[] = [];
  const recorded: unknown[] = [];
  const ensure = (): ReturnType<typeof ensureAdminKey> =>
    ensureAdminKey({
      store,
      path,
      now: 5,
      audit: { record: (entry) => recorded.push(entry) },
      logger: pino({ level: 'debug' }, { write: (line: string) => told.push(line) }),
    });
  const readKey = async () => apiKeyRecordSchema.parse((await store.get(apiKeyKey('admin')))?.value);

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'drover-admin-'));
    path = join(directory, 'admin.key');
    store = new MemoryStore();
    told.length = 0;
    recorded.length = 0;
  });
  afterEach(async () => {
    await store.close();
    await rm(directory, { recursive: true });
  });

  it('is made once, readable by the owner only, and stored as hash and mask', async () => {
    expect(await ensure()).toBe('made');
    const token = (await readFile(path, 'utf8')).trim();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(directory)).toEqual(['admin.key']);
    const record = await readKey();
    expect(record).toEqual({
      label: 'admin',
      grant: withoutLimits('ALL'),
      hash: hashToken(token),
      mask: maskToken(token),
      createdAt: 5,
    });
    expect(await ensure()).toBe('kept');
    expect((await readFile(path, 'utf8')).trim()).toBe(token);
  });

  it('is recorded from the file when a crash came between file and record', async () => {
    await ensure();
    const token = (await readFile(path, 'utf8')).trim();
    await store.close();
    store = new MemoryStore();
    expect(await ensure()).toBe('made');
    expect((await readKey()).hash).toBe(hashToken(token));
  });

  it('is made anew when the file holds no token', async () => {
    await writeFile(path, 'drv_half', { mode: 0o600 });
    await ensure();
    expect((await readKey()).hash).toBe(hashToken((await readFile(path, 'utf8')).trim()));
    expect(await readdir(directory)).toEqual(['admin.key']);
  });

  it('is left alone when the operator took the file away or has other keys', async () => {
    await ensure();
    await rm(path);
    expect(await ensure()).toBe('kept');
    expect(await readdir(directory)).toEqual([]);
    expect(told).toEqual([]);
  });

  it('is made anew when the operator empties the file: loudly, audited, the old token is worth nothing', async () => {
    await ensure();
    const old = (await readFile(path, 'utf8')).trim();
    await writeFile(path, '');
    expect(await ensure()).toBe('replaced');
    const token = (await readFile(path, 'utf8')).trim();
    expect(token).not.toBe(old);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readKey()).toMatchObject({
      grant: withoutLimits('ALL'),
      hash: hashToken(token),
      mask: maskToken(token),
    });
    expect(recorded).toEqual([
      { key: null, action: 'admin key made anew', subject: 'admin', address: null, result: 'ok' },
    ]);
    expect(told).toEqual([expect.stringContaining('its old token is revoked')]);
    expect(told.join()).not.toContain(token);
    expect(await ensure()).toBe('kept');
  });

  it('is made anew from an empty file also when it was deleted, beside the other keys', async () => {
    await ensure();
    const other = {
      label: 'ci',
      hash: 'a'.repeat(64),
      mask: 'drv_...',
      createdAt: 1,
      grant: withoutLimits('ALL'),
    };
    await store.transact([
      { do: 'remove', key: apiKeyKey('admin') },
      { do: 'create', key: apiKeyKey('ci'), value: other },
    ]);
    await writeFile(path, '\n');
    expect(await ensure()).toBe('replaced');
    expect((await readKey()).hash).toBe(hashToken((await readFile(path, 'utf8')).trim()));
    expect((await store.get(apiKeyKey('ci')))?.value).toEqual(other);
  });

  it.each([
    ['a token of no key', `${generateToken()}\n`, 'holds the token of no key'],
    ['something that is no token', 'drv_half', 'does not hold a token'],
    ['a megabyte', 'x'.repeat(1024 * 1024), 'does not hold a token'],
  ])('is left alone when the file holds %s, and the log says what to do', async (_what, content, text) => {
    await ensure();
    const before = await readKey();
    await writeFile(path, content);
    expect(await ensure()).toBe('kept');
    expect(await readKey()).toEqual(before);
    expect(await readFile(path, 'utf8')).toBe(content);
    expect(told).toEqual([expect.stringContaining(text)]);
    expect(told[0]).toContain('empty the file');
  });

  it('refuses a file that other users can read', async () => {
    await writeFile(path, `${generateToken()}\n`);
    await expect(ensure()).rejects.toMatchObject({ code: 'DRV_NODE_ROOT_UNUSABLE' });
    await expect(ensure()).rejects.toThrow('chmod 600');
  });

  it('says so when data/ cannot be written', async () => {
    path = join(directory, 'missing', 'admin.key');
    await expect(ensure()).rejects.toThrow('make data/ writable');
    expect(await store.get(apiKeyKey('admin'))).toBeUndefined();
  });
});
