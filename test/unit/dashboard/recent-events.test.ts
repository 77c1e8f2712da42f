/** What the overview tells of what happened last. */
import { beforeEach, describe, expect, it } from 'vitest';
import { RecentEvents } from '../../../src/dashboard/live/recent-events.js';
import type { Batch } from '../../../src/dashboard/live/topic-store.js';
import type { InstanceInfo } from '../../../src/model/instance.js';
import type { Topics } from '../../../src/watch-client/topics.js';
import { aNode, anInstance } from '../../support/dashboard/entries.js';

/** A store that the test changes. */
class FakeStore<T> {
  readonly entries = new Map<string, T>();
  #listener: (batch: Batch<T>) => void = () => undefined;

  listen(listener: (batch: Batch<T>) => void): () => void {
    this.#listener = listener;
    return () => undefined;
  }

  load(entries: readonly (readonly [string, T])[]): void {
    this.entries.clear();
    for (const [key, entry] of entries) this.entries.set(key, entry);
    this.#listener({ before: new Map(), isNew: true });
  }

  put(key: string, entry: T | undefined): void {
    const before = new Map([[key, this.entries.get(key)]]);
    if (entry === undefined) this.entries.delete(key);
    else this.entries.set(key, entry);
    this.#listener({ before, isNew: false });
  }
}

describe('the last events', () => {
  let instances: FakeStore<InstanceInfo>;
  let nodes: FakeStore<Topics['nodes']>;
  let events: RecentEvents;
  let now = 0;
  beforeEach(() => {
    now = 5_000;
    instances = new FakeStore();
    nodes = new FakeStore();
    events = new RecentEvents(instances, nodes, () => now++);
  });
  const told = (): string[] =>
    events.list.value.map(({ at, what, instance, node }) => `${at} ${what} ${instance?.id ?? node}`);

  it('are at first what the snapshot says, the newest first', () => {
    instances.load([
      ['a', anInstance({ id: 'a', createdAt: 1_000 })],
      ['b', anInstance({ id: 'b', createdAt: 3_000 })],
    ]);
    nodes.load([['n', aNode({ nodeId: 'n', conditionSince: 2_000 })]]);
    expect(told()).toEqual(['3000 made b', '2000 connected n', '1000 made a']);
  });

  it('follow each change of a state, and say why it is so', () => {
    instances.load([]);
    instances.put('a', anInstance({ id: 'a', createdAt: 4_000, state: 'CREATING' }));
    instances.put('a', anInstance({ id: 'a', state: 'ONLINE', message: 'serves' }));
    instances.put('a', anInstance({ id: 'a', state: 'OFFLINE', message: 'exited with code 1' }));
    instances.put('a', undefined);
    expect(told()).toEqual(['5003 removed a', '5002 offline a', '5001 online a', '4000 made a']);
    expect(events.list.value.map(({ message }) => message)).toEqual([null, 'exited with code 1', null, null]);
  });

  it('do not tell of changes that change no state', () => {
    instances.load([['a', anInstance({ id: 'a', createdAt: 1_000 })]]);
    instances.put('a', anInstance({ id: 'a', players: 7 }));
    expect(told()).toEqual(['1000 made a']);
  });

  it('tell of nodes that leave, are lost and come back', () => {
    nodes.load([['n', aNode({ nodeId: 'n', conditionSince: 1_000 })]]);
    nodes.put('n', aNode({ nodeId: 'n', condition: 'lost', conditionSince: 2_000 }));
    nodes.put('n', aNode({ nodeId: 'n', condition: 'lost', conditionSince: 2_000, cordoned: true }));
    nodes.put('n', undefined);
    expect(told()).toEqual(['5002 removed n', '2000 lost n', '1000 connected n']);
  });

  it('are told once, also when a second snapshot tells them again', () => {
    const entries = [['a', anInstance({ id: 'a', createdAt: 1_000 })]] as const;
    instances.load(entries);
    instances.load(entries);
    expect(told()).toEqual(['1000 made a']);
  });

  it('are the last twelve, and none after the end of the session', () => {
    instances.load(
      Array.from({ length: 40 }, (_, index) => [
        `i${index}`,
        anInstance({ id: `i${index}`, createdAt: index }),
      ]),
    );
    expect(told()).toHaveLength(12);
    expect(told()[0]).toBe('39 made i39');
    instances.load([]);
    events.clear();
    expect(told()).toEqual([]);
  });
});
