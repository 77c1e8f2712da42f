import { describe, expect, it, vi } from 'vitest';
import { SystemClock } from '../../../src/loop/system-clock.js';
import { FakeClock } from '../../support/fake-clock.js';

describe('FakeClock', () => {
  it('fires timers in order of time and then of setting, each at its own instant', async () => {
    const clock = new FakeClock();
    const fired: string[] = [];
    clock.setTimer(20, () => fired.push(`b at ${clock.monotonic()}`));
    clock.setTimer(10, () => fired.push(`a at ${clock.monotonic()}`));
    clock.setTimer(20, () => fired.push(`c at ${clock.monotonic()}`));
    clock.setTimer(31, () => fired.push('too late'));
    await clock.advance(30);
    expect(fired).toEqual(['a at 10', 'b at 20', 'c at 20']);
    expect(clock.monotonic()).toBe(30);
    expect(clock.pending).toBe(1);
  });

  it('lets what a timer set off settle, and fires the timers set meanwhile', async () => {
    const clock = new FakeClock();
    const seen: string[] = [];
    clock.setTimer(10, () => void Promise.resolve().then(() => seen.push('settled')));
    clock.setTimer(10, () => clock.setTimer(5, () => seen.push(`nested at ${clock.monotonic()}`)));
    clock.setTimer(11, () => seen.push('next'));
    await clock.advance(15);
    expect(seen).toEqual(['settled', 'next', 'nested at 15']);
  });

  it('does not fire a cancelled timer', async () => {
    const clock = new FakeClock();
    const callback = vi.fn();
    const timer = clock.setTimer(10, callback);
    timer.cancel();
    timer.cancel();
    await clock.advance(20);
    expect(callback).not.toHaveBeenCalled();
    expect(clock.pending).toBe(0);
  });

  it('jumps the wall clock without moving monotonic time or firing timers', async () => {
    const clock = new FakeClock({ startAt: 1000 });
    const callback = vi.fn();
    clock.setTimer(10, callback);
    clock.jumpWallClock(3_600_000);
    await clock.advance(9);
    expect(clock.now()).toBe(3_601_009);
    expect(clock.monotonic()).toBe(9);
    expect(callback).not.toHaveBeenCalled();
  });
});

describe('SystemClock', () => {
  it('never fires early, fractions of a millisecond included', async () => {
    const clock = new SystemClock();
    const keepAlive = setInterval(() => {}, 1000);
    const startedAt = clock.monotonic();
    await new Promise<void>((resolve) => clock.setTimer(3.7, resolve));
    clearInterval(keepAlive);
    expect(clock.monotonic() - startedAt).toBeGreaterThanOrEqual(3.7);
  });

  it('waits longer than the longest timeout of Node', async () => {
    vi.useFakeTimers();
    try {
      const callback = vi.fn();
      new SystemClock().setTimer(2 ** 31 + 1000, callback);
      await vi.advanceTimersByTimeAsync(2 ** 31 - 1);
      expect(callback).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1001);
      expect(callback).toHaveBeenCalledOnce();
    } finally {
      vi.useRealTimers();
    }
  });

  it('cancels a timer, also a very long one', async () => {
    vi.useFakeTimers();
    try {
      const callback = vi.fn();
      const timer = new SystemClock().setTimer(2 ** 31 + 1000, callback);
      await vi.advanceTimersByTimeAsync(2 ** 31 - 1);
      timer.cancel();
      await vi.advanceTimersByTimeAsync(5000);
      expect(callback).not.toHaveBeenCalled();
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
