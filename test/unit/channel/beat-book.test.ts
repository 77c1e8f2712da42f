/** The beat book: when each node was last heard of, in the master's own waking time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BeatBook } from '../../../src/channel/master/beat-book.js';
import type { Clock, TimerHandle } from '../../../src/loop/clock.js';
import { FakeClock } from '../../support/fake-clock.js';

/** A clock of a process that can be stopped: its timers fire late, all at once, when it goes on. */
class StallingClock implements Clock {
  readonly #inner = new FakeClock();
  #stalledMs = 0;

  now(): number {
    return this.#inner.now() + this.#stalledMs;
  }

  monotonic(): number {
    return this.#inner.monotonic() + this.#stalledMs;
  }

  setTimer(delayMs: number, callback: () => void): TimerHandle {
    return this.#inner.setTimer(delayMs, callback);
  }

  nextTurn(callback: () => void): void {
    this.#inner.nextTurn(callback);
  }

  advance(ms: number): Promise<void> {
    return this.#inner.advance(ms);
  }

  /** SIGSTOP, time, SIGCONT. */
  stall(ms: number): void {
    this.#stalledMs += ms;
  }
}

describe('the beat book', () => {
  let clock: StallingClock;
  let book: BeatBook;
  let changed: string[];

  beforeEach(() => {
    clock = new StallingClock();
    book = new BeatBook(clock);
    changed = [];
    book.onContactChange((nodeId) => changed.push(nodeId));
    book.start();
  });

  afterEach(() => {
    book.stop();
  });

  it('counts silence from the last beat, and says when that came by the wall clock', async () => {
    book.connected('alpha');
    await clock.advance(1500);
    book.beat('alpha');
    await clock.advance(2250);
    expect(book.contact('alpha')).toEqual({ isConnected: true, silentMs: 2250, goneForMs: null });
    expect(book.lastBeatAt('alpha')).toBe(clock.now() - 2250);
  });

  it('counts a node that was never heard of as silent once it had time to find this master', async () => {
    await clock.advance(9500);
    expect(book.contact('ghost')).toMatchObject({ isConnected: false, silentMs: 0, awaitedMs: 9500 });
    await clock.advance(4500);
    expect(book.contact('ghost')).toMatchObject({ isConnected: false, silentMs: 4000, awaitedMs: 14_000 });
    expect(book.lastBeatAt('ghost')).toBeUndefined();
    book.beat('ghost');
    book.bye('ghost');
    book.disconnected('ghost');
    expect(changed).toEqual([]);
  });

  it('counts nothing of a stall of its own process, so that the beats of that time are read first', async () => {
    book.connected('alpha');
    await clock.advance(1000);
    clock.stall(30_000);
    expect(book.contact('alpha').silentMs).toBe(1000);
    await clock.advance(3000);
    expect(book.contact('alpha').silentMs).toBe(3500);
    clock.stall(3_600_000);
    expect(book.contact('alpha').silentMs).toBeLessThanOrEqual(3500);
  });

  it('counts no time below zero after a beat that came late in a tick', async () => {
    book.connected('alpha');
    clock.stall(900);
    book.beat('alpha');
    book.heardProgram('i00001');
    clock.stall(900);
    expect([book.contact('alpha').silentMs, book.silenceOfProgram('i00001')]).toEqual([0, 0]);
  });

  it('remembers who said that it will be back, until it is', async () => {
    book.connected('alpha');
    book.bye('alpha');
    book.disconnected('alpha');
    await clock.advance(5000);
    expect(book.contact('alpha')).toEqual({ isConnected: false, silentMs: 5000, goneForMs: 5000 });
    book.connected('alpha');
    expect(book.contact('alpha')).toEqual({ isConnected: true, silentMs: 0, goneForMs: null });
  });

  it('gives nodes 2 s to find the only master, because they dial no other one', async () => {
    book.stop();
    book.start({ isSole: true });
    await clock.advance(2000);
    expect(book.contact('ghost').silentMs).toBe(0);
    await clock.advance(6000);
    expect(book.contact('ghost')).toMatchObject({ isConnected: false, silentMs: 6000, awaitedMs: 8000 });
  });

  it('gives a node that this master sent away the time to find it again', async () => {
    book.connected('alpha');
    await clock.advance(5000);
    book.sentAway('alpha');
    book.disconnected('alpha');
    await clock.advance(10_000);
    expect(book.contact('alpha')).toEqual({ isConnected: false, silentMs: 0, goneForMs: null });
    await clock.advance(4000);
    expect(book.contact('alpha').silentMs).toBe(4000);
    book.connected('alpha');
    await clock.advance(3000);
    expect(book.contact('alpha').silentMs).toBe(3000);
  });

  it('tells of connections, goodbyes and beats after a silence, not of every beat', async () => {
    book.connected('alpha');
    for (let beat = 0; beat < 5; beat++) {
      await clock.advance(2000);
      book.beat('alpha');
    }
    expect(changed).toEqual(['alpha']);
    await clock.advance(3500);
    book.beat('alpha');
    book.bye('alpha');
    book.disconnected('alpha');
    expect(changed).toEqual(['alpha', 'alpha', 'alpha', 'alpha']);
  });

  it('has a tick that grows with every beat, so that what was made from beats is known to be old', () => {
    const before = book.tick;
    book.connected('alpha');
    book.beat('alpha');
    expect(book.tick).toBe(before + 2);
  });

  it('stops for good', async () => {
    book.stop();
    book.stop();
    await clock.advance(10_000);
    expect(book.contact('alpha').silentMs).toBeLessThanOrEqual(1000);
  });
});
