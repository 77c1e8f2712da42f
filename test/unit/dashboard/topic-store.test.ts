/** What the dashboard makes of the change stream's messages. */
import { describe, expect, it } from 'vitest';
import { type Batch, TopicStore } from '../../../src/dashboard/live/topic-store.js';

interface Pet {
  readonly name: string;
  readonly age: number;
}

/** A store whose frames are played by the test. */
function makeStore() {
  const frames: (() => void)[] = [];
  const batches: Batch<Pet>[] = [];
  const store = new TopicStore<Pet>(
    'pets',
    ({ name }) => name,
    (callback) => frames.push(callback),
  );
  store.listen((batch) => batches.push(batch));
  const playFrames = (): void => {
    for (let frame = frames.shift(); frame !== undefined; frame = frames.shift()) frame();
  };
  return { store, frames, batches, playFrames, names: () => [...store.entries.keys()] };
}

const snapshot = (revision: number, names: readonly string[], part = { isFirst: true, isLast: true }) => ({
  type: 'snapshot' as const,
  topic: 'pets',
  position: { epoch: 'e1', revision },
  ...part,
  put: names.map((name) => ({ name, age: 1 })),
});
const changes = (revision: number, put: readonly Pet[], gone: readonly string[] = []) => ({
  type: 'changes' as const,
  topic: 'pets',
  position: { epoch: 'e1', revision },
  put,
  gone,
});

describe('a store of a topic', () => {
  it('shows a snapshot when its last part is there, and the former entries until then', () => {
    const { store, playFrames, names } = makeStore();
    store.receive(snapshot(1, ['old']));
    playFrames();
    store.receive(snapshot(2, ['a'], { isFirst: true, isLast: false }));
    playFrames();
    expect(names()).toEqual(['old']);
    store.receive(snapshot(2, ['b'], { isFirst: false, isLast: true }));
    playFrames();
    expect(names()).toEqual(['a', 'b']);
  });

  it('says nothing is loaded before the first whole snapshot', () => {
    const { store, playFrames } = makeStore();
    store.receive(snapshot(1, ['a'], { isFirst: true, isLast: false }));
    playFrames();
    expect(store.isLoaded.value).toBe(false);
    store.receive(snapshot(1, [], { isFirst: false, isLast: true }));
    playFrames();
    expect(store.isLoaded.value).toBe(true);
  });

  it('takes all messages of a frame in one batch, with what was before the first of them', () => {
    const { store, batches, playFrames } = makeStore();
    store.receive(snapshot(1, ['a', 'b']));
    playFrames();
    store.receive(changes(2, [{ name: 'a', age: 2 }]));
    store.receive(changes(3, [{ name: 'a', age: 3 }], ['b', 'unknown']));
    playFrames();
    expect(batches).toHaveLength(2);
    expect([...(batches[1]?.before ?? [])]).toEqual([
      ['a', { name: 'a', age: 1 }],
      ['b', { name: 'b', age: 1 }],
      ['unknown', undefined],
    ]);
    expect([...store.entries.values()]).toEqual([{ name: 'a', age: 3 }]);
  });

  it('spreads a great many entries over frames', () => {
    const { store, frames } = makeStore();
    const many = (from: number) => Array.from({ length: 1_500 }, (_none, place) => `pet${from + place}`);
    store.receive(snapshot(1, many(0), { isFirst: true, isLast: false }));
    store.receive(snapshot(1, many(1_500), { isFirst: false, isLast: false }));
    store.receive(snapshot(1, many(3_000), { isFirst: false, isLast: true }));
    frames.shift()?.();
    expect(store.entries.size).toBe(0);
    expect(frames).toHaveLength(1);
    frames.shift()?.();
    expect(store.entries.size).toBe(4_500);
  });

  it('goes on after a lost connection behind what came, also when that waits for a frame', () => {
    const { store, playFrames, names } = makeStore();
    expect(store.request()).toEqual({ subscribe: 'pets' });
    store.receive(snapshot(7, ['a']));
    playFrames();
    store.receive(changes(8, [{ name: 'b', age: 1 }]));
    expect(store.request()).toEqual({ subscribe: 'pets', resume: { epoch: 'e1', revision: 8 } });
    playFrames();
    expect(names()).toEqual(['a', 'b']);
  });

  it('begins again when the connection is lost within a snapshot', () => {
    const { store, playFrames, names } = makeStore();
    store.receive(snapshot(7, ['old']));
    store.receive(snapshot(9, ['half'], { isFirst: true, isLast: false }));
    expect(store.request()).toEqual({ subscribe: 'pets' });
    store.receive(snapshot(10, ['a']));
    playFrames();
    expect(names()).toEqual(['a']);
  });

  it('forgets everything when the session ends', () => {
    const { store, playFrames, names } = makeStore();
    store.receive(snapshot(7, ['a']));
    playFrames();
    store.clear();
    expect(names()).toEqual([]);
    expect([store.isLoaded.value, store.request()]).toEqual([false, { subscribe: 'pets' }]);
  });
});
