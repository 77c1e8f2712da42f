/** Masters of one etcd that only some of them can reach: they hear from each other who leads. On a virtual clock. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KnownMasters } from '../../../src/channel/wrapper/known-masters.js';
import { ElectedLeadership } from '../../../src/leadership/elected-leadership.js';
import { LeaderSearch } from '../../../src/leadership/leader-search.js';
import { DroverError } from '../../../src/model/errors.js';
import { storeKeys } from '../../../src/store/etcd/leader-key.js';
import { Masters } from '../../../src/store/etcd/masters.js';
import { openElected } from '../../../src/store/etcd/open.js';
import { MemoryFile } from '../../support/cluster/cluster-files.js';
import { type FakeClient, FakeEtcd } from '../../support/etcd/fake-etcd.js';
import { FakeClock } from '../../support/fake-clock.js';

const PREFIX = '/drover/test';

interface Member {
  readonly client: FakeClient;
  readonly leadership: ElectedLeadership;
  stop(): Promise<void>;
}

let clock: FakeClock;
let etcd: FakeEtcd;
let members: Map<string, Member>;
/** Masters that nobody can ask. */
let mute: Set<string>;
/** What each has on its disk. */
let files: Map<string, MemoryFile>;

beforeEach(() => {
  clock = new FakeClock();
  etcd = new FakeEtcd(clock);
  members = new Map();
  mute = new Set();
  files = new Map();
});
afterEach(async () => {
  const stopped = Promise.all([...members.values()].map((member) => member.stop()));
  await clock.advance(20_000);
  await stopped;
});

function fileOf(nodeId: string): MemoryFile {
  const file = files.get(nodeId) ?? new MemoryFile('data/cluster/masters.json');
  files.set(nodeId, file);
  return file;
}

async function add(nodeId: string): Promise<Member> {
  const client = etcd.client();
  const own = { nodeId, clusterAddress: `${nodeId}:6000`, root: nodeId };
  const opening = openElected({
    etcd: client,
    prefix: PREFIX,
    own,
    clock,
    signal: new AbortController().signal,
  });
  await clock.advance(100);
  const { store, election, lease } = await opening;
  const masters = new Masters({
    etcd: client,
    keys: storeKeys(PREFIX),
    nodeId,
    lease,
    clock,
    onChange: () => undefined,
  });
  masters.start();
  const logger = pino({ level: 'silent' });
  const leadership = new ElectedLeadership({ election, masters, own, clock, logger });
  const serving = leadership.serve({
    begin: async () => undefined,
    finish: async () => undefined,
    end: async () => undefined,
  });
  const known = new KnownMasters({
    contact: { host: nodeId, port: 6000 },
    file: fileOf(nodeId),
    logger,
  });
  const search = new LeaderSearch({
    leadership,
    nodeId,
    known,
    ask: async (peer) => {
      const other = members.get(peer.nodeId);
      if (other === undefined || mute.has(peer.nodeId))
        throw new DroverError('DRV_CHANNEL_CLOSED', 'it is away');
      return other.leadership.leader();
    },
    clock,
  });
  await search.start();
  const stop = async (): Promise<void> => {
    await search.stop();
    await leadership.stop();
    await serving;
    await masters.stop();
    await store.close();
  };
  const member = { client, leadership, stop };
  members.set(nodeId, member);
  await clock.advance(2000);
  return member;
}

const leaderOf = ({ leadership }: Member): string | undefined => leadership.leader()?.nodeId;

it('ends the term of a leader that etcd alone is cut off from, when another master leads', async () => {
  const a = await add('a');
  const b = await add('b');
  expect([leaderOf(a), a.leadership.isLeader()]).toEqual(['a', true]);
  a.client.fault = 'away';
  await clock.advance(6000);
  expect([leaderOf(b), b.leadership.isLeader()]).toEqual(['b', true]);
  expect([leaderOf(a), a.leadership.isLeader()]).toEqual(['b', false]);
  a.client.fault = 'none';
  await clock.advance(3000);
  expect([leaderOf(a), a.leadership.isLeader()]).toEqual(['b', false]);
});

it('lets a leader go on while etcd is away for all, and while nobody can be asked', async () => {
  const a = await add('a');
  const b = await add('b');
  for (const { client } of [a, b]) client.fault = 'away';
  await clock.advance(30_000);
  expect([leaderOf(a), a.leadership.isLeader()]).toEqual(['a', true]);
  mute.add('b');
  b.client.fault = 'none';
  await clock.advance(6000);
  expect([leaderOf(b), leaderOf(a), a.leadership.isLeader()]).toEqual(['b', 'a', true]);
});

it('tells a follower that etcd is silent for who has come to lead, and believes etcd as soon as that answers', async () => {
  const a = await add('a');
  const b = await add('b');
  const c = await add('c');
  c.client.fault = 'away';
  a.client.fault = 'away';
  await clock.advance(8000);
  expect([leaderOf(b), leaderOf(c)]).toEqual(['b', 'b']);
  b.client.fault = 'away';
  a.client.fault = 'none';
  await clock.advance(8000);
  expect([leaderOf(a), leaderOf(b), leaderOf(c)]).toEqual(['a', 'a', 'a']);
  c.client.fault = 'none';
  mute.add('a').add('b');
  await clock.advance(3000);
  expect(leaderOf(c)).toBe('a');
});

it('asks a master that was away when etcd fell silent, and leads since it is back', async () => {
  const a = await add('a');
  const b = await add('b');
  const stopped = b.stop();
  await clock.advance(5000);
  await stopped;
  expect(a.leadership.masters().map(({ nodeId }) => nodeId)).toEqual(['a']);
  a.client.fault = 'away';
  const again = await add('b');
  await clock.advance(6000);
  expect([leaderOf(again), leaderOf(a), a.leadership.isLeader()]).toEqual(['b', 'b', false]);
});

it('asks a master that it has not seen since its own restart, and hears that this one leads', async () => {
  const halt = async (member: Member): Promise<void> => {
    const stopped = member.stop();
    await clock.advance(5000);
    await stopped;
  };
  const before = await add('a');
  await halt(await add('b'));
  await halt(before);
  const a = await add('a');
  expect(a.leadership.isLeader()).toBe(true);
  a.client.fault = 'away';
  const b = await add('b');
  await clock.advance(6000);
  expect([leaderOf(b), leaderOf(a), a.leadership.isLeader()]).toEqual(['b', 'b', false]);
});
