/** Stored members, join tokens and API keys that cannot be read: they open nothing, and can be removed. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { KeyWriter } from '../../../src/access/key-writer.js';
import { withoutLimits } from '../../../src/model/access/api-key.js';
import { MasterState } from '../../../src/state/master-state.js';
import { apiKeyKey, joinTokenKey, memberKey } from '../../../src/store/keys.js';
import { ClusterWorld } from '../../support/cluster/cluster-world.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const never = new AbortController().signal;

describe('a credential that cannot be read', () => {
  let world: ClusterWorld;

  beforeEach(async () => {
    world = new ClusterWorld(new FakeClock());
    await world.start();
  });

  afterEach(() => world.stop());

  const spoil = (key: string): Promise<number> =>
    world.store.transact([{ do: 'put', key, value: { from: 'another version' } }]);

  it('of a member keeps its node out, says why, and goes with cluster forget', async () => {
    const { membership, files } = await world.member('alpha', { token: await world.token() });
    (await membership.connect(never)).close('done');
    await spoil(memberKey('alpha'));
    const again = await world.member('alpha', { files });
    await expect(again.membership.connect(never)).rejects.toThrow(
      /cannot read its record of node alpha .*run "cluster forget alpha" and join it again/,
    );
    await world.members.revoke('alpha', { keepToken: false });
    expect(await world.store.get(memberKey('alpha'))).toBeUndefined();
    const anew = await world.member('alpha', { token: await world.token() });
    (await anew.membership.connect(never)).close('done');
  });

  it('of a member takes its join token with it, which could bring the node back', async () => {
    const { record, token } = await world.tokens.create({ label: null, expiresInMs: null, maxUses: null });
    const { membership } = await world.member('alpha', { token });
    (await membership.connect(never)).close('done');
    const member = { nodeId: 'alpha', tokenId: record.id, from: 'another version' };
    await world.store.transact([{ do: 'put', key: memberKey('alpha'), value: member }]);
    expect(await world.members.revoke('alpha', { keepToken: false })).toBe(record.id);
    expect(await world.tokens.find(record.id)).toBeUndefined();
  });

  it('of a join token lets nobody in; the others work, and it can be revoked', async () => {
    const good = await world.token();
    const bad = await world.tokens.create({ label: 'bad', expiresInMs: null, maxUses: null });
    await spoil(joinTokenKey(bad.record.id));
    expect((await world.tokens.list()).map(({ label }) => label)).toEqual([null]);
    const stranger = await world.member('beta', { token: bad.token });
    await expect(stranger.membership.connect(never)).rejects.toThrow('does not know the join token');
    const { membership } = await world.member('alpha', { token: good });
    (await membership.connect(never)).close('done');
    await world.tokens.revoke(bad.record.id);
    expect(await world.store.get(joinTokenKey(bad.record.id))).toBeUndefined();
  });
});

it('an API key that cannot be read can be deleted', async () => {
  const store = new MemoryStore();
  const logger = pino({ level: 'silent' });
  const clock = new FakeClock();
  await store.transact([{ do: 'put', key: apiKeyKey('old'), value: { label: 'old' } }]);
  const { keys } = new MasterState(store, logger);
  await keys.start();
  const writer = new KeyWriter({ store, keys, clock, adminKeyPath: '/nowhere/admin.key', logger });
  await expect(writer.create('old', withoutLimits('PUBLIC'))).rejects.toThrow('there is a key "old" already');
  await writer.remove('old');
  expect(await store.get(apiKeyKey('old'))).toBeUndefined();
  await writer.create('old', withoutLimits('PUBLIC'));
  expect([...keys.entries()].map(([label]) => label)).toEqual(['old']);
  await keys.stop();
});
