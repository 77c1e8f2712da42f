/** Making and revoking keys while the API serves: what the gate accepts, what is stored, and what is refused. */
import { mkdtempSync, rmSync } from 'node:fs';
import { chmod, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyWriter, type KeyWriterOptions } from '../../../src/access/key-writer.js';
import { generateToken, isWellFormedToken } from '../../../src/access/tokens.js';
import { apiKeyRecordSchema, withoutLimits } from '../../../src/model/access/api-key.js';
import { PREFIX } from '../../../src/store/keys.js';
import { openStore } from '../../../src/store/lmdb/open.js';
import { Mirror } from '../../../src/store/mirror.js';
import { inSteps } from '../../../src/store/transaction.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { bodyOf, exchange, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';

let world: ApiWorld;
let directory: string;
let writer: KeyWriter;
const warnings: string[] = [];
const logger = pino({ level: 'warn' }, { write: (line: string) => warnings.push(line) });

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'drover-keys-'));
  world = await new ApiWorld().start();
  await world.server.start();
  writer = writerOver(world);
  warnings.length = 0;
});
afterEach(async () => {
  await world.stop();
  rmSync(directory, { recursive: true });
});

const adminKeyPath = (): string => join(directory, 'admin.key');
function writerOver({ store, keys, clock }: Pick<KeyWriterOptions, 'store' | 'keys' | 'clock'>): KeyWriter {
  return new KeyWriter({ store, keys, clock, adminKeyPath: adminKeyPath(), logger });
}
const statusWith = async (token: string, path = '/instances'): Promise<number> => {
  const headers = { authorization: `Bearer ${token}` };
  return (await world.server.inject({ url: `/api${path}`, headers })).statusCode;
};
const labels = (): string[] => [...world.keys.entries()].map(([label]) => label).sort();

describe('a key that is made', () => {
  it('works with the next request, in its scope only', async () => {
    const all = await writer.create('ci', withoutLimits('ALL'));
    const site = await writer.create('site', withoutLimits('PUBLIC'));
    expect([await statusWith(all.token), await statusWith(site.token)]).toEqual([200, 401]);
    expect(await statusWith(site.token, '/ping')).toBe(200);
  });

  it('is drv_, 30 characters and a checksum; what is stored of it is hash and mask', async () => {
    const { token, record } = await writer.create('ci', withoutLimits('ALL'));
    expect(token).toMatch(/^drv_[0-9A-Za-z]{36}$/);
    expect(isWellFormedToken(token)).toBe(true);
    expect(record).toEqual({
      label: 'ci',
      grant: withoutLimits('ALL'),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      mask: `drv_...${token.slice(-4)}`,
      createdAt: world.clock.now(),
    });
    expect(JSON.stringify((await world.store.list('')).entries)).not.toContain(token.slice(4, 34));
  });

  it('needs a label of its own: 409, and of many at once one is made', async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 10 }, () => writer.create('ci', withoutLimits('ALL'))),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await expect(writer.create('ci', withoutLimits('PUBLIC'))).rejects.toMatchObject({
      code: 'DRV_KEY_EXISTS',
      status: 409,
      message: 'there is a key "ci" already: delete it first, or take another label',
    });
  });

  it.each(['', '.hidden', '../x', 'a b', 'a/b', '__proto__', 'x'.repeat(65), 'terminal', 'instance aaaaaa'])(
    'is refused under the label %j',
    async (label) => {
      await expect(writer.create(label, withoutLimits('ALL'))).rejects.toMatchObject({
        code: 'DRV_REQUEST_INVALID',
      });
      expect(labels()).toEqual(['boss']);
    },
  );

  it('is refused under a token that was pasted for a label, which is not repeated', async () => {
    const pasted = generateToken();
    const failure = await writer.create(pasted, withoutLimits('ALL')).catch(String);
    expect(failure).toContain('must not be a token');
    expect(failure).not.toContain(pasted);
    expect(labels()).toEqual(['boss']);
  });

  it('is one of 1,000 at most', async () => {
    const operations = Array.from({ length: 999 }, (_, index) => ({
      do: 'create' as const,
      key: `${PREFIX.keys}k${index}`,
      value: {
        label: `k${index}`,
        hash: 'a'.repeat(64),
        mask: 'x',
        createdAt: 1,
        grant: withoutLimits('PUBLIC'),
      },
    }));
    for (const step of inSteps(operations)) await world.store.transact(step);
    await world.keys.until(await world.store.barrier());
    await expect(writer.create('more', withoutLimits('ALL'))).rejects.toThrow('there are 1000 keys');
  });

  it('outlives a restart', async () => {
    const open = async () => {
      const store = await openStore({ directory: join(directory, 'store'), logger });
      const keys = new Mirror({
        store,
        prefix: PREFIX.keys,
        decode: (value) => apiKeyRecordSchema.parse(value),
      });
      await keys.start();
      return { store, keys, clock: world.clock };
    };
    const before = await open();
    const { record } = await writerOver(before).create('ci', withoutLimits('ALL'));
    // As after a crash: nothing is written at the end.
    await before.keys.stop();
    await before.store.close();
    const after = await open();
    expect(after.keys.get('ci')?.value).toEqual(record);
    await after.keys.stop();
    await after.store.close();
  });
});

describe('a key that is deleted', () => {
  it('is refused from the next request on; the others go on', async () => {
    const { token } = await writer.create('ci', withoutLimits('ALL'));
    await writer.remove('ci');
    expect([await statusWith(token), await statusWith(world.admin)]).toEqual([401, 200]);
  });

  it('must be there: 404', async () => {
    await expect(writer.remove('nope')).rejects.toMatchObject({
      code: 'DRV_KEY_UNKNOWN',
      message: 'there is no key "nope": "key list" shows all',
    });
    await expect(writer.remove('\x1b[2J')).rejects.toThrow('there is no such key');
  });

  it('cannot be the last one with scope ALL', async () => {
    await writer.create('site', withoutLimits('PUBLIC'));
    await expect(writer.remove('boss')).rejects.toMatchObject({
      code: 'DRV_REQUEST_INVALID',
      message: expect.stringContaining('key "boss" is the last one with scope ALL'),
    });
    await writer.remove('site');
    expect([labels(), await statusWith(world.admin)]).toEqual([['boss'], 200]);
  });

  it('leaves one ALL key when all of them are deleted at once', async () => {
    for (const label of ['a', 'b', 'c']) await writer.create(label, withoutLimits('ALL'));
    const removed = await Promise.allSettled(['boss', 'a', 'b', 'c'].map((label) => writer.remove(label)));
    expect(removed.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect(labels()).toHaveLength(1);
  });

  it('takes data/admin.key with it when that holds its token, and leaves it otherwise', async () => {
    const { token } = await writer.create('admin', withoutLimits('ALL'));
    const other = await writer.create('other', withoutLimits('ALL'));
    await writeFile(adminKeyPath(), `${token}\n`, { mode: 0o600 });
    await writer.remove('other');
    expect([await statusWith(other.token), await readdir(directory)]).toEqual([401, ['admin.key']]);
    await writer.remove('admin');
    expect(await readdir(directory)).toEqual([]);
    expect(warnings).toEqual([]);
  });

  it('is revoked also when data/admin.key cannot be removed, which the log says', async () => {
    const { token } = await writer.create('admin', withoutLimits('ALL'));
    await writeFile(adminKeyPath(), `${token}\n`);
    await chmod(adminKeyPath(), 0o644);
    await writer.remove('admin');
    expect(await statusWith(token)).toBe(401);
    expect(warnings).toEqual([
      expect.stringContaining('key admin is revoked, but data/admin.key could not be removed'),
    ]);
  });
});

describe('a token', () => {
  it('that differs in any one character is refused', async () => {
    const token = world.admin;
    for (let index = 0; index < token.length; index++) {
      await world.clock.advance(60_000);
      const other = token[index] === 'x' ? 'y' : 'x';
      const wrong = token.slice(0, index) + other + token.slice(index + 1);
      expect([index, await statusWith(wrong)]).toEqual([index, 401]);
    }
    expect(await statusWith(token)).toBe(200);
  });

  it('that nobody was given is refused, however well it is formed', async () => {
    expect(await statusWith(generateToken())).toBe(401);
  });

  it('of 100 kB is refused before anything looks at it', async () => {
    const port = world.server.address?.port ?? 0;
    const lines = [
      'GET /api/instances HTTP/1.1',
      'Host: x',
      `Authorization: Bearer drv_${'A'.repeat(100_000)}`,
      '',
      '',
    ];
    const answer = await exchange(port, lines.join('\r\n'));
    expect([statusOf(answer), bodyOf(answer)]).toEqual([431, refusal('the headers are larger than 16 KiB')]);
  });

  it('of an instance dies when the instance is deleted, also while its process is still ending', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const token = world.tokens.issue('aaaaaa', 1000);
    const report = () => world.call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE' }, token);
    expect((await report()).status).toBe(200);
    await world.call('DELETE', '/instances/aaaaaa');
    expect(world.instances.get('aaaaaa')?.value.desired.goal).toBe('remove');
    expect((await report()).status).toBe(401);
  });
});
