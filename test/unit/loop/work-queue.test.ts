import { beforeEach, describe, expect, it } from 'vitest';
import { WorkQueue } from '../../../src/loop/work-queue.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('WorkQueue', () => {
  let clock: FakeClock;
  let queue: WorkQueue;

  beforeEach(() => {
    clock = new FakeClock();
    queue = new WorkQueue(clock);
  });

  /** Takes all that is due, giving each back at once. */
  function drain(): string[] {
    const keys: string[] = [];
    for (let key = queue.take(); key !== undefined; key = queue.take()) {
      keys.push(key);
      queue.done(key);
    }
    return keys;
  }

  it('hands keys out in the order they were added', () => {
    for (const key of ['b', 'a', 'c']) queue.add(key);
    expect(drain()).toEqual(['b', 'a', 'c']);
  });

  it('hands out high before normal before low', () => {
    queue.add('low', { priority: 'low' });
    queue.add('normal');
    queue.add('high', { priority: 'high' });
    expect(drain()).toEqual(['high', 'normal', 'low']);
  });

  it('keeps one entry for a key that is added many times', () => {
    for (let count = 0; count < 1000; count++) queue.add('a', { afterMs: count % 3 });
    expect(queue.size).toBe(1);
    expect(drain()).toEqual(['a']);
    expect(queue.size).toBe(0);
  });

  it('merges repeated adds into the earliest time and the highest priority', async () => {
    queue.add('rival');
    queue.add('a', { afterMs: 50, priority: 'high' });
    queue.add('a', { priority: 'low' });
    expect(drain()).toEqual(['a', 'rival']);
    await clock.advance(100);
    expect(drain()).toEqual([]);
  });

  it('raises the priority of a key that is due already', () => {
    queue.add('first');
    queue.add('second');
    queue.add('second', { priority: 'high' });
    expect(drain()).toEqual(['second', 'first']);
  });

  it('holds a delayed key back until its time', async () => {
    queue.add('a', { afterMs: 10 });
    await clock.advance(9);
    expect(queue.take()).toBeUndefined();
    await clock.advance(1);
    expect(queue.take()).toBe('a');
  });

  it('brings a delayed key forward but never puts it off', async () => {
    queue.add('a', { afterMs: 100 });
    queue.add('a', { afterMs: 10 });
    queue.add('a', { afterMs: 200 });
    await clock.advance(10);
    expect(drain()).toEqual(['a']);
    await clock.advance(500);
    expect(drain()).toEqual([]);
  });

  it('never hands a running key out, and hands it out once more when it was added meanwhile', () => {
    queue.add('a');
    expect(queue.take()).toBe('a');
    queue.add('a');
    queue.add('a');
    expect(queue.take()).toBeUndefined();
    queue.done('a');
    expect(drain()).toEqual(['a']);
  });

  it('keeps the delay of a key that was added for later while it ran', async () => {
    queue.add('a');
    queue.take();
    queue.add('a', { afterMs: 30 });
    queue.done('a');
    expect(queue.take()).toBeUndefined();
    await clock.advance(30);
    expect(queue.take()).toBe('a');
  });

  it('forgets a key that is done and was not added again', () => {
    queue.add('a');
    queue.take();
    queue.done('a');
    expect(queue.take()).toBeUndefined();
    expect(queue.isIdle).toBe(true);
  });

  it('rings when the first key becomes due, at once or by time', async () => {
    const rings: number[] = [];
    queue.onReady(() => rings.push(clock.monotonic()));
    queue.add('later', { afterMs: 20 });
    queue.add('much later', { afterMs: 40 });
    expect(rings).toEqual([]);
    queue.add('now');
    queue.add('now too');
    expect(rings).toEqual([0]);
    drain();
    await clock.advance(20);
    expect(rings).toEqual([0, 20]);
    drain();
    await clock.advance(20);
    expect(rings).toEqual([0, 20, 40]);
  });

  it('needs no timer for due keys and one for any number of delayed ones', () => {
    for (let key = 0; key < 100; key++) queue.add(`due ${key}`);
    expect(clock.pending).toBe(0);
    for (let key = 100; key > 0; key--) queue.add(`delayed ${key}`, { afterMs: key });
    expect(clock.pending).toBe(1);
  });

  it('measures depth and the longest wait of the keys that could run, not of delayed or running ones', async () => {
    queue.add('running');
    queue.take();
    queue.add('running');
    queue.add('a', { priority: 'low' });
    queue.add('delayed', { afterMs: 1000 });
    await clock.advance(30);
    queue.add('b', { priority: 'high' });
    await clock.advance(12);
    expect(queue.gauge()).toEqual({ depth: 2, longestWaitMs: 42 });
  });

  it('is idle only when nothing is due and nothing is handed out', async () => {
    queue.add('a', { afterMs: 5 });
    expect(queue.isIdle).toBe(true);
    await clock.advance(5);
    expect(queue.isIdle).toBe(false);
    queue.take();
    expect(queue.isIdle).toBe(false);
    queue.done('a');
    expect(queue.isIdle).toBe(true);
  });

  it('hands nothing out and holds no timer once stopped', async () => {
    queue.add('now');
    queue.add('later', { afterMs: 5 });
    queue.stop();
    queue.stop();
    queue.add('after');
    expect(clock.pending).toBe(0);
    expect(queue.take()).toBeUndefined();
    expect(queue.size).toBe(0);
  });
});
