/** Group commit and failed commits, on a backend whose disk the test controls. */
import { describe, expect, it } from 'vitest';
import { DroverError } from '../../../src/model/errors.js';
import { EmbeddedStore } from '../../../src/store/embedded-store.js';
import { type Accepted, KeyTable } from '../../../src/store/key-table.js';
import { type Change, create, update } from '../../../src/store/store.js';
import { ChangeHistory } from '../../../src/store/watch.js';

interface Write {
  readonly group: readonly Accepted[];
  succeed(): void;
  fail(): void;
}

/** Each write waits until the test decides how it ends. */
class HeldStore extends EmbeddedStore {
  readonly #writes: Write[] = [];
  #onWrite: (() => void) | undefined;

  constructor(onWrite?: (seconds: number) => void) {
    super(new KeyTable(new Map(), 0), new ChangeHistory(0), onWrite);
  }

  /** The next write that began and was not yet given out. */
  async nextWrite(): Promise<Write> {
    for (;;) {
      const write = this.#writes.shift();
      if (write !== undefined) return write;
      await new Promise<void>((resolve) => {
        this.#onWrite = resolve;
      });
    }
  }

  protected write(group: readonly Accepted[]): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (): void => reject(new DroverError('DRV_STORE_WRITE_FAILED', 'the disk is full'));
      this.#writes.push({ group, succeed: resolve, fail });
      this.#onWrite?.();
    });
  }

  protected async release(): Promise<void> {}
}

/** The revision or the error's code of each. */
function settled(promises: Promise<number>[]): Promise<string[]> {
  return Promise.all(
    promises.map((promise) =>
      promise.then(String, (error: unknown) => (error instanceof DroverError ? error.code : String(error))),
    ),
  );
}

describe('group commit', () => {
  it('commits everything called in one turn, and then all that came meanwhile, as one group each', async () => {
    const store = new HeldStore();
    const first = [create(store, 'a/1', 1), create(store, 'a/2', 2)];
    const write = await store.nextWrite();
    const second = [create(store, 'a/3', 3), create(store, 'a/4', 4), create(store, 'a/5', 5)];
    expect(write.group.map((accepted) => accepted.revision)).toEqual([1, 2]);
    write.succeed();
    expect(await settled(first)).toEqual(['1', '2']);
    const next = await store.nextWrite();
    expect(next.group.map((accepted) => accepted.revision)).toEqual([3, 4, 5]);
    next.succeed();
    expect(await settled(second)).toEqual(['3', '4', '5']);
  });

  it('shows nothing to readers and watchers before it is durable', async () => {
    const store = new HeldStore();
    const stopping = new AbortController();
    const watch = store.watch('a/', 0, stopping.signal)[Symbol.asyncIterator]();
    const seen: Change[] = [];
    const watching = watch.next().then(({ done, value }) => seen.push(...(done ? [] : value)));
    const writing = create(store, 'a/1', 1);
    const write = await store.nextWrite();
    expect(await store.get('a/1')).toBeUndefined();
    expect(await store.list('')).toEqual({ entries: [], revision: 0 });
    expect(seen).toEqual([]);
    write.succeed();
    await Promise.all([writing, watching]);
    expect(seen).toEqual([{ revision: 1, key: 'a/1', value: 1 }]);
    stopping.abort();
  });

  it('reports the time of each transaction to the observer', async () => {
    const seconds: number[] = [];
    const store = new HeldStore((duration) => seconds.push(duration));
    const writing = [create(store, 'a/1', 1), create(store, 'a/2', 2)];
    (await store.nextWrite()).succeed();
    await Promise.all(writing);
    expect(seconds).toHaveLength(2);
    expect(seconds.every((duration) => duration >= 0)).toBe(true);
  });

  it('has a barrier wait for what is on its way and for what waits, and does not count it as a write', async () => {
    const seconds: number[] = [];
    const store = new HeldStore((duration) => seconds.push(duration));
    const first = create(store, 'a/1', 1);
    const write = await store.nextWrite();
    const second = create(store, 'a/2', 2);
    let passed: number | undefined;
    const barrier = store.barrier().then((revision) => {
      passed = revision;
    });
    write.succeed();
    await first;
    const next = await store.nextWrite();
    expect(passed).toBeUndefined();
    next.succeed();
    await barrier;
    expect([passed, await second, seconds.length]).toEqual([2, 2, 2]);
  });

  it('lets a transaction that changes nothing wait for those it was judged on', async () => {
    const store = new HeldStore();
    const writing = create(store, 'a/1', 1);
    const checking = store.transact([{ do: 'check', key: 'a/1', expectedRevision: 1 }]);
    (await store.nextWrite()).fail();
    expect(await settled([writing, checking])).toEqual(['DRV_STORE_WRITE_FAILED', 'DRV_STORE_WRITE_FAILED']);
  });
});

describe('a failed commit', () => {
  it('fails its group and everything judged on top of it, and leaves the state before', async () => {
    const store = new HeldStore();
    const kept = create(store, 'a/kept', 'old');
    (await store.nextWrite()).succeed();
    await kept;
    const failing = [update(store, 'a/kept', 'new', 1), create(store, 'a/1', 1)];
    const write = await store.nextWrite();
    const later = [update(store, 'a/kept', 'newer', 2), create(store, 'a/2', 2)];
    write.fail();
    expect(await settled([...failing, ...later])).toEqual(Array(4).fill('DRV_STORE_WRITE_FAILED'));
    expect(await store.list('')).toEqual({
      entries: [{ key: 'a/kept', value: 'old', revision: 1 }],
      revision: 1,
    });
  });

  it('lets barriers pass, at the durable revision', async () => {
    const store = new HeldStore();
    const kept = create(store, 'a/kept', 'old');
    (await store.nextWrite()).succeed();
    await kept;
    const failing = [update(store, 'a/kept', 'new', 1), store.barrier()];
    const write = await store.nextWrite();
    const later = [create(store, 'a/2', 2), store.barrier()];
    write.fail();
    expect(await settled([...failing, ...later])).toEqual([
      'DRV_STORE_WRITE_FAILED',
      '1',
      'DRV_STORE_WRITE_FAILED',
      '1',
    ]);
  });

  it('lets the next transaction go on from the durable state', async () => {
    const store = new HeldStore();
    const failing = create(store, 'a/1', 1);
    (await store.nextWrite()).fail();
    expect(await settled([failing])).toEqual(['DRV_STORE_WRITE_FAILED']);
    const again = create(store, 'a/1', 'again');
    (await store.nextWrite()).succeed();
    expect(await again).toBe(1);
  });

  it('finishes a group that is on its way before it closes', async () => {
    const store = new HeldStore();
    const writing = create(store, 'a/1', 1);
    const write = await store.nextWrite();
    const closing = store.close();
    write.succeed();
    expect(await writing).toBe(1);
    await closing;
  });
});
