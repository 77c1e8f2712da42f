import { describe, expect, it } from 'vitest';
import { SlidingWindow } from '../../../src/api/gate/rate-limit.js';
import { FailureLimiter } from '../../../src/loop/failure-limiter.js';

describe('failed authentications', () => {
  it('refuses after the burst, says how long, and names only the first refusal of a run', () => {
    const limiter = new FailureLimiter({ burst: 2, refillMs: 1000 });
    const fail = (now: number) => limiter.fail('a', now);
    expect([fail(0), fail(0)].map(({ retryAfterMs }) => retryAfterMs)).toEqual([0, 0]);
    expect([fail(0), fail(400)]).toEqual([
      { retryAfterMs: 1000, isFirst: true },
      { retryAfterMs: 600, isFirst: false },
    ]);
    expect(fail(1000)).toEqual({ retryAfterMs: 0, isFirst: false });
    expect(fail(1000)).toEqual({ retryAfterMs: 1000, isFirst: true });
    expect([fail(60_000), fail(60_000), fail(60_000)].map(({ retryAfterMs }) => retryAfterMs)).toEqual([
      0, 0, 1000,
    ]);
  });

  it('remembers 10,000 addresses at most and forgets the longest quiet one', () => {
    const limiter = new FailureLimiter({ burst: 1, refillMs: 1_000_000 });
    const isRefused = (address: string): boolean => limiter.fail(address, 0).retryAfterMs > 0;
    for (let index = 0; index < 10_000; index++) isRefused(`10.0.0.${index}`);
    expect(isRefused('10.0.0.0')).toBe(true);
    isRefused('one more');
    expect([isRefused('10.0.0.0'), isRefused('10.0.0.2'), isRefused('10.0.0.1')]).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('the sliding window', () => {
  it('allows so many calls in any window, by key, and does not count the refused ones', () => {
    const window = new SlidingWindow(2, 1000);
    expect([window.take('a', 0), window.take('a', 600), window.take('a', 900)]).toEqual([0, 0, 100]);
    expect(window.take('b', 900)).toBe(0);
    expect([window.take('a', 1000), window.take('a', 1001)]).toEqual([0, 599]);
    window.forget('a');
    expect(window.take('a', 1001)).toBe(0);
  });

  it('remembers 20,000 callers at most and forgets the one that called first', () => {
    const window = new SlidingWindow(1, 1000);
    for (let index = 0; index < 20_000; index++) window.take(`caller ${index}`, 0);
    expect([window.take('caller 0', 0), window.take('caller 1', 0)]).toEqual([1000, 1000]);
    window.take('one more', 0);
    expect([window.take('caller 1', 0), window.take('caller 0', 0)]).toEqual([1000, 0]);
  });
});
