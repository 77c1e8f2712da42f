/** The secrets of a node: sealed on its disk, kept over restarts, read again for each start. */
import { pino } from 'pino';
import { beforeEach, describe, expect, it } from 'vitest';
import { generateClusterKey, sealingWith } from '../../../src/channel/trust/cluster-key.js';
import { NodeSecrets } from '../../../src/node/node-secrets.js';
import { WriteBehind } from '../../../src/node/write-behind.js';
import type { Store } from '../../../src/store/store.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const forever = new AbortController().signal;
const ASSIGNMENT = {
  id: 'abc123',
  configurationName: 'lobby',
  revision: 'f00',
  goal: 'run' as const,
  restartToken: 1,
  port: null,
  hostAddress: 'localhost',
  templates: [],
  apiKey: 'key',
  secrets: { db: 'v1' },
};

let store: Store;
let sealing = sealingWith(generateClusterKey());
let disk: WriteBehind;
beforeEach(() => {
  store = new MemoryStore();
  sealing = sealingWith(generateClusterKey());
});

async function open(): Promise<NodeSecrets> {
  disk = new WriteBehind({ store, clock: new FakeClock(), logger: pino({ level: 'silent' }) });
  const secrets = new NodeSecrets(disk, sealing);
  await secrets.load();
  return secrets;
}

describe('the secrets of a node', () => {
  it('are on its disk only sealed, and there again for the next daemon', async () => {
    const first = await open();
    first.take({ db: { version: 'v1', source: { value: 'canary-on-disk' } } });
    await first.renew(ASSIGNMENT, forever);
    await disk.stop();
    const { entries } = await store.list('');
    expect(entries.map(({ key }) => key)).toEqual(['secrets/db', 'used-secrets/abc123']);
    expect(JSON.stringify(entries)).not.toContain('canary');
    const second = await open();
    expect(second.lacking(ASSIGNMENT)).toEqual([]);
    expect(second.used('abc123')?.get('db')).toBe('canary-on-disk');
    second.collect([]);
    await disk.stop();
    expect((await store.list('')).entries).toEqual([]);
  });

  it('count as not sent after the loss of the key, and in another version', async () => {
    const first = await open();
    first.take({ db: { version: 'v1', source: { value: 'word' } } });
    await disk.stop();
    expect(first.lacking({ ...ASSIGNMENT, secrets: { db: 'v2' } })).toEqual([
      'the master has not sent the secret db, or cannot open it: its log says why',
    ]);
    expect(first.lacking({ ...ASSIGNMENT, secrets: { db: null } } as never)).toEqual([
      'there is no secret db: "drover secret set db" makes it',
    ]);
    sealing = sealingWith(generateClusterKey());
    expect((await open()).lacking(ASSIGNMENT)).toHaveLength(1);
  });

  it('are taken by a start, not by a run', async () => {
    const secrets = await open();
    secrets.take({ db: { version: 'v1', source: { value: 'one' } } });
    await secrets.renew(ASSIGNMENT, forever);
    secrets.take({ db: { version: 'v2', source: { value: 'two' } } });
    expect(secrets.used('abc123')?.get('db')).toBe('one');
    await secrets.renew(ASSIGNMENT, forever);
    expect(secrets.used('abc123')?.get('db')).toBe('two');
  });

  it('say why a file or a program has none, without what was printed', async () => {
    const secrets = await open();
    const renewed = (source: { file: string } | { command: string[] }) => {
      secrets.take({ db: { version: 'v1', source } });
      return secrets.renew(ASSIGNMENT, forever);
    };
    await expect(renewed({ file: '/nowhere/here' })).rejects.toThrow(
      'the secret db cannot be had on this node: /nowhere/here: no such file',
    );
    const loud = ['sh', '-c', 'echo canary; echo canary >&2; exit 4'];
    const fault = await renewed({ command: loud }).catch((error: unknown) => error);
    expect(fault).toMatchObject({
      code: 'DRV_SECRET_MISSING',
      message: expect.stringContaining('sh: it failed (4)'),
    });
    expect(String(fault)).not.toContain('canary');
    await renewed({ command: ['printf', 'word\n'] });
    expect(secrets.used('abc123')?.get('db')).toBe('word');
  });
});
