/** The promises of every store, as one suite. `test/contract/store.test.ts` runs it for each implementation. */
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DroverError } from '../../src/model/errors.js';
import {
  type Change,
  create,
  type Entry,
  MAX_OPERATIONS,
  type Operation,
  type Store,
  update,
} from '../../src/store/store.js';

interface StoreUnderTest {
  readonly store: Store;
  /** Closes the store and removes its files. */
  dispose(): Promise<void>;
}

/** `historyCapacity`: how many changes the store keeps for watchers. */
type MakeStore = (options: { historyCapacity: number }) => Promise<StoreUnderTest>;

const put = (key: string, value: unknown): Operation => ({ do: 'put', key, value });
const remove = (key: string): Operation => ({ do: 'remove', key });

async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof DroverError ? error.code : `not a DroverError: ${String(error)}`),
  );
}

/** Takes batches until the watch has reached `revision`. */
async function takeUntil(store: Store, prefix: string, from: number, revision: number): Promise<Change[]> {
  const stopping = new AbortController();
  const taken: Change[] = [];
  for await (const batch of store.watch(prefix, from, stopping.signal)) {
    taken.push(...batch);
    if (batch.revision >= revision) break;
  }
  return taken;
}

export function describeStore(name: string, make: MakeStore): void {
  describe(`${name} store`, () => {
    let subject: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      subject = await make({ historyCapacity: 64 });
      store = subject.store;
    });
    afterEach(() => subject.dispose());

    describeTransactions(() => store);
    describeBarrier(() => store);
    describeReads(() => store);
    describeWatches(() => store);
    describeClose(() => store);
    describeHistoryProperty(make);
  });
}

function describeTransactions(current: () => Store): void {
  it('starts at revision 0 and counts one revision per transaction', async () => {
    const store = current();
    expect((await store.list('')).revision).toBe(0);
    expect(await create(store, 'a/1', { n: 1 })).toBe(1);
    expect(await store.transact([put('a/2', 2), put('a/3', 3)])).toBe(2);
    expect((await store.list('')).revision).toBe(2);
    expect(await store.get('a/3')).toEqual({ key: 'a/3', value: 3, revision: 2 });
  });

  it('creates a key once only, and again after its removal', async () => {
    const store = current();
    await create(store, 'a/1', 1);
    await expect(create(store, 'a/1', 2)).rejects.toThrow(/a\/1/);
    expect(await codeOf(create(store, 'a/1', 2))).toBe('DRV_STORE_CONFLICT');
    await store.transact([remove('a/1')]);
    expect(await create(store, 'a/1', 3)).toBe(3);
  });

  it('updates only from the expected revision', async () => {
    const store = current();
    const first = await create(store, 'a/1', 1);
    const second = await update(store, 'a/1', 2, first);
    expect(await codeOf(update(store, 'a/1', 3, first))).toBe('DRV_STORE_CONFLICT');
    expect(await codeOf(update(store, 'a/none', 3, 1))).toBe('DRV_STORE_CONFLICT');
    expect(await store.get('a/1')).toEqual({ key: 'a/1', value: 2, revision: second });
  });

  it('removes with and without an expected revision', async () => {
    const store = current();
    const revision = await create(store, 'a/1', 1);
    const stale: Operation = { do: 'remove', key: 'a/1', expectedRevision: revision + 1 };
    expect(await codeOf(store.transact([stale]))).toBe('DRV_STORE_CONFLICT');
    await store.transact([{ do: 'remove', key: 'a/1', expectedRevision: revision }]);
    expect(await store.get('a/1')).toBeUndefined();
    expect(await store.transact([remove('a/1')])).toBe(2);
    expect((await store.list('')).revision).toBe(2);
  });

  it('checks keys that it does not change', async () => {
    const store = current();
    const revision = await create(store, 'a/1', 1);
    const checked = (expectedRevision: number, key = 'a/1'): Promise<number> =>
      store.transact([{ do: 'check', key, expectedRevision }, put('a/2', 2)]);
    expect(await codeOf(checked(revision + 7))).toBe('DRV_STORE_CONFLICT');
    expect(await store.get('a/2')).toBeUndefined();
    expect(await checked(revision)).toBe(2);
    expect(await checked(0, 'a/none')).toBe(3);
    expect((await store.get('a/1'))?.revision).toBe(revision);
  });

  it('applies all operations of a transaction or none', async () => {
    const store = current();
    await create(store, 'a/2', 'old');
    const failing = store.transact([
      put('a/1', 1),
      put('a/2', 'new'),
      { do: 'create', key: 'a/3', value: 3 },
      { do: 'update', key: 'a/4', value: 4, expectedRevision: 9 },
    ]);
    expect(await codeOf(failing)).toBe('DRV_STORE_CONFLICT');
    expect(await store.list('')).toEqual({
      entries: [{ key: 'a/2', value: 'old', revision: 1 }],
      revision: 1,
    });
  });

  it('decides concurrent transactions in the order of their calls', async () => {
    const store = current();
    const outcomes = await Promise.all([
      codeOf(create(store, 'a/1', 'first')),
      codeOf(create(store, 'a/1', 'second')),
      codeOf(update(store, 'a/1', 'third', 1)),
      codeOf(update(store, 'a/1', 'stale', 1)),
      codeOf(store.transact([remove('a/1')])),
      codeOf(create(store, 'a/1', 'again')),
    ]);
    expect(outcomes).toEqual([
      'resolved',
      'DRV_STORE_CONFLICT',
      'resolved',
      'DRV_STORE_CONFLICT',
      'resolved',
      'resolved',
    ]);
    expect(await store.get('a/1')).toEqual({ key: 'a/1', value: 'again', revision: 4 });
  });

  it('takes as many operations as it says, checks included, and says how many are too many', async () => {
    const store = current();
    const creations = Array.from(
      { length: MAX_OPERATIONS },
      (_, n): Operation => ({ do: 'create', key: `a/${n}`, value: n }),
    );
    expect(await store.transact(creations)).toBe(1);
    expect((await store.list('a/')).entries).toHaveLength(MAX_OPERATIONS);
    const checks = creations.map(({ key }): Operation => ({ do: 'check', key, expectedRevision: 1 }));
    expect(await store.transact([...checks.slice(1), put('b/1', 1)])).toBe(2);
    await expect(store.transact([...checks, put('b/1', 2)])).rejects.toThrow(
      `1 to ${MAX_OPERATIONS} operations, not ${MAX_OPERATIONS + 1}`,
    );
  });

  it('refuses a malformed transaction without touching anything', async () => {
    const store = current();
    const loop: unknown[] = [];
    loop.push(loop);
    const tooMany = Array.from({ length: MAX_OPERATIONS + 1 }, (_, n) => put(`a/${n}`, n));
    const malformed: Operation[][] = [
      [],
      tooMany,
      tooMany.map(({ key }) => ({ do: 'check', key, expectedRevision: 0 })),
      [put('a/1', 1), put('a/1', 2)],
      [put('', 1)],
      [put('a/\0', 1)],
      [put('a/ü', 1)],
      [put('k'.repeat(513), 1)],
      [put('a/0', 0), put('a/1', undefined)],
      [put('a/0', 0), put('a/1', loop)],
      [put('a/0', 0), put('a/1', 1n)],
    ];
    for (const operations of malformed) expect(await codeOf(store.transact(operations))).toBe('DRV_INTERNAL');
    expect(await store.list('')).toEqual({ entries: [], revision: 0 });
  });
}

function describeBarrier(current: () => Store): void {
  it('passes at once where nothing was written, and changes nothing', async () => {
    const store = current();
    expect(await store.barrier()).toBe(0);
    expect(await create(store, 'a/1', 1)).toBe(1);
    expect([await store.barrier(), await store.barrier()]).toEqual([1, 1]);
  });

  it('waits for every transaction that was called before, and fails with none of them', async () => {
    const store = current();
    const outcomes: string[] = [];
    const writing = [
      create(store, 'a/1', 'first'),
      create(store, 'a/1', 'second'),
      store.transact([put('a/2', 2), put('a/3', 3)]),
    ].map((promise) => codeOf(promise).then((outcome) => outcomes.push(outcome)));
    const revision = await store.barrier();
    expect(revision).toBe(2);
    const { entries, revision: listed } = await store.list('');
    expect(listed).toBeGreaterThanOrEqual(revision);
    expect(entries.map(({ key, value }) => [key, value])).toEqual([
      ['a/1', 'first'],
      ['a/2', 2],
      ['a/3', 3],
    ]);
    await Promise.all(writing);
    expect(outcomes.toSorted()).toEqual(['DRV_STORE_CONFLICT', 'resolved', 'resolved']);
  });

  it('shows whoever lost a race what won it', async () => {
    const store = current();
    await create(store, 'a/1', 0);
    const increment = async (): Promise<void> => {
      for (;;) {
        const entry = await store.get('a/1');
        const next = Number(entry?.value) + 1;
        if ((await codeOf(update(store, 'a/1', next, entry?.revision ?? 0))) === 'resolved') return;
        await store.barrier();
        expect((await store.get('a/1'))?.revision).toBeGreaterThan(entry?.revision ?? 0);
      }
    };
    await Promise.all(Array.from({ length: 20 }, increment));
    expect((await store.get('a/1'))?.value).toBe(20);
  });

  it('gives a revision that watchers reach', async () => {
    const store = current();
    const writing = Promise.all(Array.from({ length: 20 }, (_, n) => store.transact([put(`a/${n}`, n)])));
    const revision = await store.barrier();
    expect(await takeUntil(store, 'a/', 0, revision)).toHaveLength(20);
    await writing;
  });
}

function describeReads(current: () => Store): void {
  it('lists one prefix in key order', async () => {
    const store = current();
    await store.transact(['b/1', 'a/10', 'a/2', 'a', 'a/1', 'aa/1'].map((key) => put(key, key)));
    const { entries } = await store.list('a/');
    expect(entries.map((entry) => entry.key)).toEqual(['a/1', 'a/10', 'a/2']);
    expect((await store.list('')).entries).toHaveLength(6);
    expect((await store.list('c/')).entries).toEqual([]);
  });

  it('never lists half of a transaction', async () => {
    const store = current();
    const pairs = (n: number): Operation[] => [put('a/left', n), put('a/right', n)];
    const writing = Promise.all(Array.from({ length: 200 }, (_, n) => store.transact(pairs(n))));
    for (let round = 0; round < 200; round++) {
      const { entries, revision } = await store.list('a/');
      expect(new Set(entries.map((entry) => entry.value)).size).toBeLessThanOrEqual(1);
      for (const entry of entries) expect(entry.revision).toBeLessThanOrEqual(revision);
    }
    await writing;
  });

  it('shows a write to readers as soon as it resolves', async () => {
    const store = current();
    for (let n = 1; n <= 20; n++) {
      const revision = await store.transact([put('a/1', n)]);
      expect(await store.get('a/1')).toEqual({ key: 'a/1', value: n, revision });
    }
  });
}

function describeWatches(current: () => Store): void {
  it('yields the changes of a prefix after a revision, removals included', async () => {
    const store = current();
    await create(store, 'a/1', 'before');
    await store.transact([put('a/1', 'new'), put('b/1', 'other')]);
    const last = await store.transact([remove('a/1')]);
    expect(await takeUntil(store, 'a/', 1, last)).toEqual([
      { revision: 2, key: 'a/1', value: 'new' },
      { revision: 3, key: 'a/1', value: undefined },
    ]);
  });

  it('subscribes when called, not at the first read', async () => {
    const store = current();
    const stopping = new AbortController();
    const watch = store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]();
    await create(store, 'a/1', 1);
    const first = await watch.next();
    expect(first.done ? [] : [...first.value]).toEqual([{ revision: 1, key: 'a/1', value: 1 }]);
    stopping.abort();
  });

  it('tells a watcher of revisions that touched other keys only', async () => {
    const store = current();
    const revision = await create(store, 'b/1', 1);
    const stopping = new AbortController();
    const watch = store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]();
    const first = await watch.next();
    expect(first.done ? undefined : [first.value.length, first.value.revision]).toEqual([0, revision]);
    stopping.abort();
  });

  it('ends a watch when its signal aborts, waiting or not', async () => {
    const store = current();
    const stopping = new AbortController();
    const waiting = store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]();
    const next = waiting.next();
    stopping.abort();
    expect((await next).done).toBe(true);
    expect((await store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]().next()).done).toBe(true);
  });

  it('refuses a watcher that wants more history than is held', async () => {
    const store = current();
    await Promise.all(Array.from({ length: 80 }, (_, n) => store.transact([put('a/1', n)])));
    expect(await codeOf(takeUntil(store, 'a/', 0, 80))).toBe('DRV_STORE_HISTORY_GONE');
    expect(await codeOf(takeUntil(store, 'a/', 15, 80))).toBe('DRV_STORE_HISTORY_GONE');
    expect(await takeUntil(store, 'a/', 16, 80)).toHaveLength(64);
  });

  it('tells a watcher that fell behind, and only that one', async () => {
    const store = current();
    const stopping = new AbortController();
    const slow = store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]();
    const quick = takeUntil(store, 'a/', 0, 100);
    for (let n = 0; n < 100; n++) await store.transact([put('a/1', n)]);
    expect(await codeOf(slow.next())).toBe('DRV_STORE_HISTORY_GONE');
    expect((await slow.next()).done).toBe(true);
    expect((await quick).map((change) => change.revision)).toEqual(
      Array.from({ length: 100 }, (_, n) => n + 1),
    );
  });
}

function describeClose(current: () => Store): void {
  it('finishes what was called, then refuses everything', async () => {
    const store = current();
    const stopping = new AbortController();
    const watching = store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]();
    const writes = Promise.all([create(store, 'a/1', 1), create(store, 'a/2', 2)]);
    const barrier = store.barrier();
    const closing = store.close();
    expect(await codeOf(create(store, 'a/3', 3))).toBe('DRV_STORE_CLOSED');
    await closing;
    await store.close();
    expect(await writes).toEqual([1, 2]);
    expect(await barrier).toBe(2);
    expect(await codeOf(store.barrier())).toBe('DRV_STORE_CLOSED');
    expect(await codeOf(store.get('a/1'))).toBe('DRV_STORE_CLOSED');
    expect(await codeOf(store.list('a/'))).toBe('DRV_STORE_CLOSED');
    expect(() => store.watch('a/', 0, stopping.signal)).toThrow('closed');
    while (!(await watching.next()).done);
  });
}

/** What one subscription delivered, between its list and its end. */
interface Segment {
  readonly from: number;
  to: number;
  readonly taken: Change[];
}

/** A copy that list and watch keep, in the simplest way. */
class Follower {
  readonly copy = new Map<string, Entry>();
  readonly segments: Segment[] = [];

  async follow(store: Store, lastKey: string, pause: () => Promise<void>): Promise<void> {
    const stopping = new AbortController();
    while (!this.copy.has(lastKey)) {
      const segment = await this.#list(store);
      if (this.copy.has(lastKey)) return;
      try {
        for await (const batch of store.watch('a/', segment.from, stopping.signal)) {
          for (const change of batch) this.#take(change, segment);
          segment.to = batch.revision;
          if (this.copy.has(lastKey)) break;
          await pause();
        }
      } catch (error) {
        if (!DroverError.is(error, 'DRV_STORE_HISTORY_GONE')) throw error;
      }
    }
  }

  async #list(store: Store): Promise<Segment> {
    const { entries, revision } = await store.list('a/');
    this.copy.clear();
    for (const entry of entries) this.copy.set(entry.key, entry);
    const segment = { from: revision, to: revision, taken: [] };
    this.segments.push(segment);
    return segment;
  }

  #take(change: Change, segment: Segment): void {
    segment.taken.push(change);
    if (change.value === undefined) this.copy.delete(change.key);
    else this.copy.set(change.key, change);
  }
}

const wave = fc.array(
  fc.record({ key: fc.nat({ max: 9 }), other: fc.nat({ max: 2 }), removes: fc.boolean() }),
  { minLength: 1, maxLength: 60 },
);
type Wave = readonly { key: number; other: number; removes: boolean }[];

function describeHistoryProperty(make: MakeStore): void {
  it('gives every watcher every change once, across lost history and concurrent writes', async () => {
    let lists = 0;
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(wave, { minLength: 1, maxLength: 6 }),
        fc.nat({ max: 3 }),
        async (waves, lag) => {
          const subject = await make({ historyCapacity: 16 });
          try {
            lists += await followWaves(subject.store, waves, lag);
            runs++;
          } finally {
            await subject.dispose();
          }
        },
      ),
      { numRuns: 40 },
    );
    // The property proves nothing unless some run lost its history.
    expect(lists).toBeGreaterThan(runs);
  });
}

async function followWaves(store: Store, waves: readonly Wave[], lag: number): Promise<number> {
  const log: Change[] = [];
  const write = async (change: Omit<Change, 'revision'>, other: string): Promise<void> => {
    const main = change.value === undefined ? remove(change.key) : put(change.key, change.value);
    log.push({ ...change, revision: await store.transact([main, put(other, 0)]) });
  };
  let finished = 0;
  const follower = new Follower();
  const following = follower.follow(store, 'a/end', async () => {
    for (const until = Math.min(waves.length, finished + lag); finished < until; ) await setImmediate();
  });
  for (const [round, writes] of waves.entries()) {
    await Promise.all(
      writes.map(({ key, other, removes }, n) =>
        write({ key: `a/${key}`, value: removes ? undefined : [round, n] }, `b/${other}`),
      ),
    );
    finished++;
  }
  await write({ key: 'a/end', value: 'end' }, 'b/0');
  await following;
  const changes = effective(log);
  for (const { from, to, taken } of follower.segments)
    expect(taken).toEqual(changes.filter(({ revision }) => revision > from && revision <= to));
  expect([...follower.copy.values()].sort((a, b) => (a.key < b.key ? -1 : 1))).toEqual(
    (await store.list('a/')).entries,
  );
  return follower.segments.length;
}

/** The changes that the log comes to. The removal of a missing key is none. */
function effective(log: readonly Change[]): Change[] {
  const exists = new Set<string>();
  const ordered = [...log].sort((a, b) => a.revision - b.revision);
  return ordered.filter(({ key, value }) => {
    if (value === undefined) return exists.delete(key);
    exists.add(key);
    return true;
  });
}
