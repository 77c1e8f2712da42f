/** The store on etcd under faults, on a virtual clock: who leads, what is written, and what becomes of a lost answer. */
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { DroverError } from '../../../src/model/errors.js';
import { EPOCH_BASE, lineOf, raiseEpochs } from '../../../src/store/epoch-base.js';
import { encodeEntry, encodeJson } from '../../../src/store/etcd/etcd-record.js';
import type { EtcdStore } from '../../../src/store/etcd/etcd-store.js';
import { storeKeys } from '../../../src/store/etcd/leader-key.js';
import { Masters } from '../../../src/store/etcd/masters.js';
import { type Elected, fillEtcd, openElected, openEtcdStore } from '../../../src/store/etcd/open.js';
import type { Change, StoreState } from '../../../src/store/store.js';
import type { Logger } from '../../../src/telemetry/logger.js';
import { type FakeClient, FakeEtcd } from '../../support/etcd/fake-etcd.js';
import { FakeClock } from '../../support/fake-clock.js';

const PREFIX = '/drover/test';

interface Opened extends Elected {
  readonly client: FakeClient;
  readonly losses: DroverError[];
}

let clock: FakeClock;
let etcd: FakeEtcd;
let opened: EtcdStore[];
let watching: Masters[];
beforeEach(() => {
  clock = new FakeClock();
  etcd = new FakeEtcd(clock);
  opened = [];
  watching = [];
});
afterEach(async () => {
  for (const masters of watching) await soon(masters.stop());
  for (const store of opened) await soon(store.close());
});

/** Opens a store for a node, which stands for leader; `opening` settles when it leads for the first time. */
function begin(nodeId: string, root = `root of ${nodeId}`) {
  const client = etcd.client();
  const losses: DroverError[] = [];
  const opening = openElected({
    etcd: client,
    prefix: PREFIX,
    own: { nodeId, clusterAddress: `${nodeId}:6000`, root },
    clock,
    signal: new AbortController().signal,
    onLost: (error) => losses.push(error),
  }).then(async (elected): Promise<Opened> => {
    opened.push(elected.store);
    await standAlways(elected);
    return { client, ...elected, losses };
  });
  return { client, opening };
}

/** Opens a store that stands for nothing yet. */
async function follow(nodeId: string, root = `root of ${nodeId}`, logger?: Logger) {
  const client = etcd.client();
  const elected = await soon(
    openElected({
      etcd: client,
      prefix: PREFIX,
      own: { nodeId, clusterAddress: `${nodeId}:6000`, root },
      clock,
      ...(logger !== undefined && { logger }),
      signal: new AbortController().signal,
    }),
  );
  opened.push(elected.store);
  return { client, ...elected };
}

/** Opens a store that also follows the entries of masters, as a daemon does. */
async function present(nodeId: string): Promise<Masters> {
  const { client, lease } = await follow(nodeId);
  const keys = storeKeys(PREFIX);
  const masters = new Masters({ etcd: client, keys, nodeId, lease, clock, onChange: () => undefined });
  masters.start();
  watching.push(masters);
  await clock.advance(1000);
  return masters;
}

const entryOf = (nodeId: string): unknown => etcd.json(`${PREFIX}/masters/${nodeId}`);

/** When the master has read its name in the leader key, etcd does not answer to what it writes. */
function loseFirstAnswer({ client, election }: Pick<Opened, 'client' | 'election'>): void {
  const unsubscribe = election.onChange(() => {
    if (election.held === undefined) return;
    client.fault = 'no-answers';
    unsubscribe();
  });
}

/** Resolves at the first term. */
async function standAlways({ election }: Pick<Elected, 'election'>): Promise<void> {
  const { term } = await election.campaign();
  term.signal.addEventListener('abort', () => void standAlways({ election }).catch(() => undefined));
}

/** What a promise comes to while the time goes on. */
async function soon<T>(promise: Promise<T>, ms = 20_000): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => {
    isSettled = true;
  });
  settled.catch(() => undefined);
  await clock.settle();
  for (let waited = 0; waited < ms && !isSettled; waited += 50) await clock.advance(50);
  if (!isSettled) throw new Error(`nothing came within ${ms} ms`);
  return settled;
}

const lead = (nodeId: string): Promise<Opened> => soon(begin(nodeId).opening);
const put = (store: EtcdStore, key: string, value: unknown): Promise<number> =>
  store.transact([{ do: 'put', key, value }]);
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'resolved',
    (error: DroverError) => error.code,
  );

async function contentOf(store: EtcdStore): Promise<Record<string, unknown>> {
  return Object.fromEntries((await store.list('')).entries.map(({ key, value }) => [key, value]));
}

it('keeps a second master waiting while the first one renews, and lets it go on when that ends in order', async () => {
  const first = await lead('a');
  await soon(put(first.store, 'k', 1));
  const second = begin('b');
  let hasOpened = false;
  void second.opening.then(() => {
    hasOpened = true;
  });
  await clock.advance(60_000);
  expect(hasOpened).toBe(false);
  expect(etcd.json(`${PREFIX}/leader`)).toMatchObject({ nodeId: 'a' });

  const closedAt = clock.monotonic();
  await soon(first.store.close());
  const { store } = await soon(second.opening);
  expect(clock.monotonic() - closedAt).toBeLessThan(500);
  expect(await contentOf(store)).toEqual({ k: 1 });
  expect(await soon(put(store, 'k', 2))).toBe(2);
});

it('lets the second master go on within 5 s after the first one fell silent, and has that one follow', async () => {
  const first = await lead('a');
  await soon(put(first.store, 'k', 1));
  const second = begin('b');
  await clock.advance(1000);
  first.client.fault = 'away';
  const silentAt = clock.monotonic();
  const { store } = await soon(second.opening);
  expect(clock.monotonic() - silentAt).toBeLessThan(5000);

  first.client.fault = 'none';
  expect(await soon(codeOf(put(first.store, 'k', 'old')))).toBe('DRV_NOT_LEADER');
  await clock.advance(2000);
  expect(await codeOf(put(first.store, 'k', 'old'))).toBe('DRV_NOT_LEADER');
  await soon(put(store, 'k', 'new'));
  await clock.settle();
  expect(await contentOf(store)).toEqual({ k: 'new' });
  expect(await contentOf(first.store)).toEqual({ k: 'new' });
  expect(first.election.held?.holder?.nodeId).toBe('b');
});

it('stops while its first write of a term is under way', async () => {
  const { client, election } = await follow('a');
  election.campaign().catch(() => undefined);
  loseFirstAnswer({ client, election });
  await clock.advance(1000);
  expect(etcd.json(`${PREFIX}/leader`)).toMatchObject({ nodeId: 'a' });
  expect(election.term).toBeUndefined();
  client.fault = 'none';
  await soon(election.stop());
  expect(etcd.json(`${PREFIX}/leader`)).toBeUndefined();
});

it('begins no term with a lease that ended while the answer to its first write was lost', async () => {
  const { client, store, election } = await follow('a');
  const campaign = election.campaign();
  loseFirstAnswer({ client, election });
  await clock.advance(1000);
  client.fault = 'away';
  await clock.advance(10_000);
  client.fault = 'none';
  const { term } = await soon(campaign);
  await clock.advance(5000);
  expect(term.isCurrent).toBe(true);
  expect(await soon(put(store, 'k', 1))).toBe(1);
});

it('never goes back to an earlier revision, whatever was asked before a write of another master came', async () => {
  const { store } = await follow('a');
  const summary = { format: 1 as const, revision: 1, entries: 1, session: 'other', write: 1 };
  const of = (key: string, value: Buffer) => ({ key: `${PREFIX}/${key}`, value, ...at });
  const at = { createRevision: 5, modRevision: 5 };
  const events = [of('records/k', encodeEntry(1, '"theirs"')), of('summary', encodeJson(summary))];
  const barrier = store.barrier();
  store.take({ kind: 'events', events, revision: 5 });
  expect(await barrier).toBe(1);
  expect((await store.list('')).revision).toBe(1);
});

it('says of a write under which it lost the lead that it may have been done', async () => {
  const { client, store } = await lead('a');
  const next = begin('b');
  await clock.advance(1000);
  client.fault = 'no-answers';
  const writing = put(store, 'k', 1);
  writing.catch(() => undefined);
  await clock.advance(100);
  client.fault = 'away';
  await clock.advance(4000);
  client.fault = 'none';
  await expect(soon(writing)).rejects.toMatchObject({
    code: 'DRV_NOT_LEADER',
    message: expect.stringContaining('may have been done'),
  });
  expect(await contentOf((await soon(next.opening)).store)).toEqual({ k: 1 });
  // One that was never sent was not done.
  await expect(soon(put(store, 'k', 2))).rejects.not.toMatchObject({
    message: expect.stringContaining('may have been done'),
  });
});

it('refuses in etcd itself the write of an old leader that comes late', async () => {
  const first = await lead('a');
  const second = begin('b');
  await clock.advance(1000);
  first.client.fault = 'late';
  const late = codeOf(put(first.store, 'k', 'old'));
  const { store } = await soon(second.opening);
  etcd.arrive();
  expect(await soon(late)).toBe('DRV_STORE_UNAVAILABLE');
  await soon(put(store, 'other', 1));
  await soon(store.close());
  expect(await contentOf((await lead('c')).store)).toEqual({ other: 1 });
});

it('writes nothing from 2 s after its last renewal on, and leads a new term where nobody took its place', async () => {
  const { client, store, election, losses } = await lead('a');
  const first = election.term;
  client.fault = 'away';
  await clock.advance(900);
  expect(first?.isCurrent).toBe(true);
  await clock.advance(1100);
  expect(first?.isCurrent).toBe(false);
  await clock.advance(2000);
  expect(etcd.json(`${PREFIX}/leader`)).toBeUndefined();
  expect(first?.signal.aborted).toBe(false);
  const waiting = codeOf(put(store, 'k', 1));
  await clock.advance(1000);
  client.fault = 'none';
  expect(await soon(waiting)).toBe('DRV_NOT_LEADER');
  await clock.advance(5000);
  expect(etcd.json(`${PREFIX}/leader`)).toMatchObject({ nodeId: 'a' });
  expect(election.term?.epoch).toBeGreaterThan(first?.epoch ?? 0);
  expect(await soon(put(store, 'k', 1))).toBe(1);
  expect(losses).toEqual([]);
});

it('answers 503 while etcd is away, reads on, and writes again when it is back', async () => {
  const { client, store } = await lead('a');
  await soon(put(store, 'k', 1));
  client.fault = 'away';
  expect(await soon(codeOf(put(store, 'k', 2)))).toBe('DRV_STORE_UNAVAILABLE');
  // No wait for those that follow.
  expect(await codeOf(put(store, 'k', 3))).toBe('DRV_STORE_UNAVAILABLE');
  expect(await contentOf(store)).toEqual({ k: 1 });
  expect(await store.barrier()).toBe(1);
  client.fault = 'none';
  await clock.advance(5000);
  expect(await contentOf(store)).toEqual({ k: 1 });
  expect(await soon(put(store, 'k', 4))).toBe(2);
});

it('shows a write whose answer was lost for good once it finds that it took effect', async () => {
  const { client, store } = await lead('a');
  const watched: Change[] = [];
  const stopping = new AbortController();
  const watching = (async () => {
    for await (const batch of store.watch('', 0, stopping.signal)) watched.push(...batch);
  })();
  client.fault = 'no-answers';
  const outcome = await soon(codeOf(put(store, 'k', 'lost')));
  expect(outcome).toBe('DRV_STORE_UNAVAILABLE');
  expect(await contentOf(store)).toEqual({});
  client.fault = 'none';
  await clock.advance(5000);
  expect(await contentOf(store)).toEqual({ k: 'lost' });
  expect(await soon(put(store, 'k', 'next'))).toBe(2);
  await clock.settle();
  expect(watched.map(({ revision, value }) => [revision, value])).toEqual([
    [1, 'lost'],
    [2, 'next'],
  ]);
  stopping.abort();
  await watching;
});

it('never takes effect with a write that it gave up, however late that arrives', async () => {
  const { client, store } = await lead('a');
  client.fault = 'late';
  expect(await soon(codeOf(put(store, 'k', 'given up')))).toBe('DRV_STORE_UNAVAILABLE');
  client.fault = 'none';
  await clock.advance(5000);
  etcd.arrive();
  await soon(put(store, 'other', 1));
  await soon(store.close());
  expect(await contentOf((await lead('a')).store)).toEqual({ other: 1 });
});

it('says that etcd is full, and goes on when there is room', async () => {
  const { client, store } = await lead('a');
  client.fault = 'full';
  await expect(soon(put(store, 'k', 1))).rejects.toMatchObject({
    code: 'DRV_STORE_WRITE_FAILED',
    message: expect.stringContaining('NOSPACE'),
  });
  client.fault = 'none';
  expect(await soon(put(store, 'k', 2))).toBe(1);
});

it('ends its term when something else than it has written the state, and goes on with what stands there', async () => {
  const { store, election, losses } = await lead('a');
  const first = election.term;
  etcd.put(`${PREFIX}/summary`, '{"format":1,"revision":7,"entries":0,"session":"other","write":1}');
  expect(await soon(codeOf(put(store, 'k', 1)))).toBe('DRV_NOT_LEADER');
  await clock.advance(5000);
  expect(election.term?.epoch).toBeGreaterThan(first?.epoch ?? 0);
  expect(await soon(put(store, 'k', 1))).toBe(8);
  expect(losses).toEqual([]);
});

it('ends when a newer version has written the state, also while the outcome of a write is unknown', async () => {
  const newer = '{"format":2}';
  const { store, losses } = await lead('a');
  etcd.put(`${PREFIX}/summary`, newer);
  expect(await soon(codeOf(put(store, 'k', 1)))).toBe('DRV_NOT_LEADER');
  await clock.advance(5000);
  expect(losses.map(({ code }) => code)).toEqual(['DRV_STORE_CORRUPT']);
  await soon(store.close());

  etcd = new FakeEtcd(clock);
  const second = await lead('a');
  second.client.fault = 'away';
  expect(await soon(codeOf(put(second.store, 'k', 1)))).toBe('DRV_STORE_UNAVAILABLE');
  etcd.put(`${PREFIX}/summary`, newer);
  second.client.fault = 'none';
  await clock.advance(5000);
  expect(await codeOf(put(second.store, 'k', 2))).toBe('DRV_NOT_LEADER');
  await clock.advance(5000);
  expect(second.losses).toHaveLength(1);
});

it('refuses a state from which something is missing', async () => {
  const first = await lead('a');
  await soon(put(first.store, 'k', 1));
  await soon(first.store.close());
  etcd.put(`${PREFIX}/records/more`, '1 true');
  await expect(soon(begin('a').opening)).rejects.toMatchObject({
    code: 'DRV_STORE_CORRUPT',
    message: expect.stringContaining('it holds 2 entries, but 1 were written'),
  });
});

it('gives up its wait when it is told to end', async () => {
  await lead('a');
  const ending = new AbortController();
  const opening = openEtcdStore({
    etcd: etcd.client(),
    prefix: PREFIX,
    own: { nodeId: 'b', clusterAddress: 'b:6000', root: 'b' },
    clock,
    signal: ending.signal,
  });
  opening.catch(() => undefined);
  await clock.advance(1000);
  ending.abort();
  await expect(soon(opening)).rejects.toMatchObject({ code: 'DRV_STORE_CLOSED' });
});

it('takes over what another master wrote that led and left while it was away', async () => {
  const first = await lead('a');
  const second = begin('b');
  await clock.advance(1000);
  first.client.fault = 'away';
  const { store } = await soon(second.opening);
  await soon(put(store, 'k', 'theirs'));
  await soon(store.close());
  expect(etcd.json(`${PREFIX}/leader`)).toBeUndefined();
  first.client.fault = 'none';
  await clock.advance(5000);
  expect(first.losses).toEqual([]);
  expect(etcd.json(`${PREFIX}/leader`)).toMatchObject({ nodeId: 'a' });
  expect(await contentOf(first.store)).toEqual({ k: 'theirs' });
  expect(await soon(put(first.store, 'k', 'mine'))).toBe(2);
});

it('ends when etcd was set back to an older state of its own', async () => {
  const { store, losses } = await lead('a');
  await soon(put(store, 'k', 1));
  const older = JSON.stringify(etcd.json(`${PREFIX}/summary`));
  await soon(put(store, 'k', 2));
  etcd.put(`${PREFIX}/summary`, older);
  expect(await soon(codeOf(put(store, 'k', 3)))).toBe('DRV_NOT_LEADER');
  await clock.advance(5000);
  expect(losses.map(({ message }) => message)).toEqual([expect.stringContaining('was at 2 before')]);
});

it('numbers terms above the base of a state that was written into a new etcd, as every master reads it', async () => {
  const before: StoreState = { entries: [{ key: 'k', value: 1, revision: 4 }], revision: 4 };
  const raised = raiseEpochs(before, 1_700_000_000_000);
  const base = lineOf(raised.entries.find(({ key }) => key === EPOCH_BASE)?.value).base;
  expect(base).toBe(1_700_000_000_000_000);
  const own = { nodeId: 'filler', clusterAddress: 'filler:6000', root: 'filler' };
  const signal = new AbortController().signal;
  await soon(fillEtcd({ etcd: etcd.client(), prefix: PREFIX, own, clock, signal }, raised));

  const first = await lead('a');
  const epoch = first.election.term?.epoch ?? 0;
  expect(epoch).toBeGreaterThan(base);
  const second = begin('b');
  await clock.advance(1000);
  const [, follower] = opened;
  expect(follower?.epochBase).toBe(base);
  expect(await soon(put(first.store, 'k', 2))).toBe(5);
  await soon(first.store.close());
  const next = await soon(second.opening);
  expect(next.election.term?.epoch).toBeGreaterThan(epoch);
  expect(next.election.held).toMatchObject({ epoch: next.election.term?.epoch, holder: { nodeId: 'b' } });
  expect(await soon(put(next.store, 'k', 3))).toBe(6);

  // A state of no base, in the same etcd: the number is that of the leader key.
  const plain = await soon(
    openElected({ etcd: etcd.client(), prefix: '/drover/plain', own, clock, signal }).then(
      async (elected) => {
        opened.push(elected.store);
        await elected.election.campaign();
        return elected;
      },
    ),
  );
  expect(plain.election.held?.epoch).toBe(plain.election.held?.createRevision);
});

it('refuses a second process of a node, and leaves the entry to the first one', async () => {
  const { election, lease } = await follow('a');
  const second = begin('a', 'a copy').opening;
  await expect(soon(second)).rejects.toMatchObject({
    code: 'DRV_NODE_CONFIG_INVALID',
    message: expect.stringMatching(
      /^config\.json: nodeId: another process of node a is up .*: stop one of them/,
    ),
  });
  expect(entryOf('a')).toMatchObject({ root: 'root of a' });
  expect(lease.id).toBeGreaterThan(0);
  expect(election.isInTouch).toBe(true);
});

it('takes the entry over from the former process of its root at once, and keeps it when that lease ends', async () => {
  const former = await follow('a');
  await clock.advance(1000);
  former.client.fault = 'away';
  const openedAt = clock.monotonic();
  const { lease } = await follow('a');
  await clock.advance(100);
  expect(lease.id).toBeGreaterThan(0);
  expect(clock.monotonic() - openedAt).toBeLessThan(500);
  await clock.advance(10_000);
  expect(entryOf('a')).toMatchObject({ root: 'root of a' });
});

it('waits for the lease of a process that ended before the machine was started again', async () => {
  const former = await follow('a', 'the boot before');
  await clock.advance(1000);
  former.client.fault = 'away';
  await follow('a');
  await clock.advance(1000);
  expect(entryOf('a')).toMatchObject({ root: 'root of a' });
});

it('puts its entry again when somebody deletes or replaces it, bound to its lease', async () => {
  const masters = await present('a');
  const key = `${PREFIX}/masters/a`;
  etcd.transact({ comparisons: [], changes: [{ do: 'delete', key }], otherwiseRead: [] });
  await clock.settle();
  expect(masters.list()).toEqual([]);
  await clock.advance(1500);
  expect(masters.list()).toEqual([{ nodeId: 'a', clusterAddress: 'a:6000' }]);

  for (const foreign of ['{"nodeId":"a"}', JSON.stringify(entryOf('a'))]) {
    etcd.put(key, foreign);
    await clock.advance(1500);
    expect(entryOf('a')).toMatchObject({ root: 'root of a' });
  }
  for (const store of opened) await soon(store.close());
  expect(entryOf('a')).toBeUndefined();
});

it('leaves an entry that an older Drover of its node has put, says so, and puts its own when that one ends', async () => {
  const masters = await present('a');
  const older = { nodeId: 'a', clusterAddress: 'copy:6000' };
  etcd.put(`${PREFIX}/masters/a`, JSON.stringify(older));
  await clock.advance(5000);
  expect(entryOf('a')).toEqual(older);
  const key = `${PREFIX}/masters/a`;
  etcd.transact({ comparisons: [], changes: [{ do: 'delete', key }], otherwiseRead: [] });
  await clock.advance(1500);
  expect(masters.list()).toEqual([{ nodeId: 'a', clusterAddress: 'a:6000' }]);
});

it('says once why no master leads, and what to do, when etcd is full', async () => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).msg) });
  const first = await lead('a');
  const { client, election } = await follow('b', 'root of b', logger);
  election.campaign().catch(() => undefined);
  client.fault = 'full';
  await soon(first.store.close());
  await clock.advance(20_000);
  expect(election.held).toBeUndefined();
  expect(lines).toEqual([
    expect.stringMatching(/^the leader key could not be asked for: .*NOSPACE.*: make room, then disarm/),
  ]);
  client.fault = 'none';
  await clock.advance(2000);
  expect(election.held?.holder?.nodeId).toBe('b');
});
