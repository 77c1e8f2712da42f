/** How many join tokens are kept: those that can be used stay, spent ones make room. */
import { beforeEach, describe, expect, it } from 'vitest';
import { parseJoinToken } from '../../../src/channel/trust/join-token.js';
import { JoinTokens } from '../../../src/channel/trust/join-tokens.js';
import type { JoinTokenRecord } from '../../../src/model/cluster.js';
import { joinTokenKey } from '../../../src/store/keys.js';
import { inSteps } from '../../../src/store/transaction.js';
import { testAuthority } from '../../support/cluster/cluster-files.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const DAY_MS = 86_400_000;

let clock: FakeClock;
let store: MemoryStore;
let tokens: JoinTokens;

beforeEach(() => {
  clock = new FakeClock();
  store = new MemoryStore();
  tokens = new JoinTokens({ store, authority: testAuthority(clock), clock });
});

/** So many tokens, each a millisecond younger than the one before. */
async function fill(count: number, fields: Partial<JoinTokenRecord> = {}): Promise<void> {
  const hash = '0'.repeat(64);
  const records = Array.from({ length: count }, (_, index) => ({
    id: index.toString(16).padStart(12, '0'),
    label: null,
    hash,
    createdAt: index,
    expiresAt: null,
    maxUses: 1,
    uses: 0,
    ...fields,
  }));
  for (const some of inSteps(records))
    await store.transact(some.map((value) => ({ do: 'put', key: joinTokenKey(value.id), value })));
}

const create = async (): Promise<string> =>
  parseJoinToken((await tokens.create({ label: null, expiresInMs: DAY_MS, maxUses: 1 })).token).id;

describe('join tokens', () => {
  it.each<[string, Partial<JoinTokenRecord>]>([
    ['used up', { uses: 1 }],
    ['expired', { expiresAt: 1 }],
  ])('that are %s make room for a new one, the oldest first', async (_what, fields) => {
    await fill(1000, { ...fields, ...(fields.expiresAt === 1 && { expiresAt: clock.now() - DAY_MS }) });
    const id = await create();
    const ids = (await tokens.list()).map((token) => token.id);
    expect([ids.length, ids[0], ids.at(-1)]).toEqual([1000, '000000000001', id]);
  });

  it('that can still be used are never removed for one', async () => {
    await fill(1000);
    await expect(create()).rejects.toMatchObject({
      message: 'there are 1000 join tokens, and no more are kept: revoke some first',
    });
    expect(await tokens.list()).toHaveLength(1000);
  });

  it('that expired long ago go, and all others stay while there is room', async () => {
    await fill(500, { expiresAt: clock.now() - 31 * DAY_MS });
    await create();
    await fill(200, { uses: 1 });
    await create();
    expect(await tokens.list()).toHaveLength(202);
  });
});
