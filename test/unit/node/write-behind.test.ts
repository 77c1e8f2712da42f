/** A wrapper's memory on its disk: the newest value of each key gets there, however slow or full the disk was. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { WriteBehind } from '../../../src/node/write-behind.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('write-behind', () => {
  let clock: FakeClock;
  let store: FlakyStore;
  let disk: WriteBehind;
  let lines: string[];

  beforeEach(() => {
    clock = new FakeClock();
    store = new FlakyStore(clock);
    lines = [];
    const logger = pino({ base: null, timestamp: false }, { write: (line: string) => lines.push(line) });
    disk = new WriteBehind({ store, clock, logger });
  });

  afterEach(async () => {
    store.latencyMs = 0;
    store.isFull = false;
    await store.close();
  });

  const kept = async (): Promise<Record<string, unknown>> =>
    Object.fromEntries((await store.list('')).entries.map(({ key, value }) => [key, value]));

  it('writes what belongs together in one transaction', async () => {
    const transact = vi.spyOn(store, 'transact');
    disk.put('a', 1);
    disk.put('b', 2);
    disk.put('a', 3);
    await disk.flush();
    expect(await kept()).toEqual({ a: 3, b: 2 });
    expect(transact).toHaveBeenCalledTimes(1);
  });

  it('writes any number of values, in as many transactions as the store asks for, and all again when one failed', async () => {
    for (let n = 0; n < 250; n++) disk.put(`k/${n}`, n);
    store.isFull = true;
    await disk.tryToWrite();
    expect(await kept()).toEqual({});
    store.isFull = false;
    disk.put('k/7', 'newer');
    await disk.flush();
    expect(Object.keys(await kept())).toHaveLength(250);
    expect((await store.get('k/7'))?.value).toBe('newer');
  });

  it('gathers changes for a moment, so that a start costs one fsync', async () => {
    const before = await store.barrier();
    disk.put('a', 1);
    await clock.advance(30);
    disk.put('b', 1);
    expect(await store.barrier()).toBe(before);
    await clock.advance(30);
    expect(await store.barrier()).toBe(before + 1);
    expect(await kept()).toEqual({ a: 1, b: 1 });
  });

  it('removes keys, and reads by prefix', async () => {
    disk.put('x/a', 1);
    disk.put('x/b', 2);
    disk.put('y/a', 3);
    await disk.flush();
    disk.put('x/a', undefined);
    disk.put('x/none', undefined);
    await disk.flush();
    const { readable, unreadable } = await disk.load('x/', z.unknown());
    expect([[...readable], unreadable.size]).toEqual([[['b', 2]], 0]);
  });

  it('keeps a copy of what cannot be read, byte for byte, whatever is put later', async () => {
    disk.put('x/a', 1);
    disk.put('x/b', { old: ['form'] });
    await disk.flush();
    const loaded = await disk.load('x/', z.number());
    expect([[...loaded.readable], [...loaded.unreadable]]).toEqual([[['a', 1]], [['b', { old: ['form'] }]]]);
    disk.put('x/b', 2);
    await disk.flush();
    expect(await store.get('set-aside/x/b')).toMatchObject({ value: { old: ['form'] } });
    expect(await store.get('x/b')).toMatchObject({ value: 2 });
  });

  it('writes what comes while it writes, and flushes that too', async () => {
    store.latencyMs = 10;
    disk.put('a', 1);
    const first = disk.flush();
    await clock.advance(5);
    disk.put('a', 2);
    disk.put('b', 2);
    let isFlushed = false;
    const flushed = disk.flush().then(() => {
      isFlushed = true;
    });
    await clock.advance(5);
    expect(await kept()).toEqual({ a: 1 });
    expect(isFlushed).toBe(false);
    await clock.advance(10);
    await Promise.all([first, flushed]);
    expect(await kept()).toEqual({ a: 2, b: 2 });
  });

  it('loses nothing while the disk is full, and the newest wins when it is not', async () => {
    store.isFull = true;
    disk.put('a', 1);
    disk.put('b', 1);
    disk.put('c', 1);
    await clock.advance(3500);
    disk.put('a', 2);
    disk.put('b', undefined);
    await clock.advance(3000);
    expect(await kept()).toEqual({});
    store.isFull = false;
    await clock.advance(1000);
    await disk.flush();
    expect(await kept()).toEqual({ a: 2, c: 1 });
  });

  it('says once that the disk is full, and once that it is not', async () => {
    store.isFull = true;
    disk.put('a', 1);
    await clock.advance(10_000);
    store.isFull = false;
    await clock.advance(1000);
    disk.put('a', 2);
    await disk.flush();
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
      'the node cannot keep its state on disk: the disk is full; going on in memory',
      'the node can keep its state on disk again',
    ]);
  });

  it('tells the end of a try, also of one that failed and is repeated later', async () => {
    disk.put('a', 1);
    await disk.tryToWrite();
    expect(await kept()).toEqual({ a: 1 });
    await disk.tryToWrite();
    store.isFull = true;
    disk.put('a', 2);
    await disk.tryToWrite();
    expect(await kept()).toEqual({ a: 1 });
    store.isFull = false;
    await clock.advance(1000);
    expect(await kept()).toEqual({ a: 2 });
  });

  it('waits for the try under way where that has what is asked for, and gathers what came meanwhile', async () => {
    store.latencyMs = 10;
    disk.put('a', 1);
    void disk.tryToWrite();
    await clock.advance(5);
    disk.put('b', 1);
    const ended: string[] = [];
    void disk.tryToWrite(['a']).then(() => ended.push('a'));
    void disk.tryToWrite(['none']).then(() => ended.push('none'));
    await clock.advance(6);
    expect(ended).toEqual(['none', 'a']);
    expect(await kept()).toEqual({ a: 1 });
    await clock.advance(30);
    expect(await kept()).toEqual({ a: 1 });
    await clock.advance(30);
    expect(await kept()).toEqual({ a: 1, b: 1 });
  });

  it('goes on at once with what was asked for during a try', async () => {
    store.latencyMs = 10;
    disk.put('a', 1);
    void disk.tryToWrite();
    await clock.advance(5);
    disk.put('b', 1);
    void disk.tryToWrite(['b']);
    await clock.advance(20);
    expect(await kept()).toEqual({ a: 1, b: 1 });
  });

  it('stops with everything written, also when it waits to try again', async () => {
    store.isFull = true;
    disk.put('a', 1);
    await clock.settle();
    store.isFull = false;
    await disk.stop();
    await disk.stop();
    expect(await kept()).toEqual({ a: 1 });
  });

  it('stops although the disk is full', async () => {
    store.isFull = true;
    disk.put('a', 1);
    await clock.settle();
    disk.put('b', 1);
    await disk.stop();
    expect(await kept()).toEqual({});
  });
});
