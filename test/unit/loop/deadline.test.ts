/** Bounding the time of code that others wrote. */
import { describe, expect, it } from 'vitest';
import { withDeadline } from '../../../src/loop/deadline.js';
import { FakeClock } from '../../support/fake-clock.js';

function bounds(clock: FakeClock, signal = new AbortController().signal) {
  return { limitMs: 100, clock, signal, expired: () => new Error('too late') };
}

describe('withDeadline', () => {
  it('answers what the work answers, now or later, and leaves no timer', async () => {
    const clock = new FakeClock();
    expect(await withDeadline(bounds(clock), () => 1)).toBe(1);
    expect(await withDeadline(bounds(clock), async () => 2)).toBe(2);
    const failing = withDeadline(bounds(clock), () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(clock.pending).toBe(0);
  });

  it('rejects when the time is over, tells the work, and ignores what becomes of it', async () => {
    const clock = new FakeClock();
    let fail = (_error: Error): void => {};
    let isTold = false;
    const waiting = withDeadline(bounds(clock), (signal) => {
      signal.addEventListener('abort', () => {
        isTold = true;
      });
      return new Promise<void>((_resolve, reject) => {
        fail = reject;
      });
    }).catch(String);
    await clock.advance(99);
    expect(isTold).toBe(false);
    await clock.advance(1);
    expect(await waiting).toBe('Error: too late');
    expect(isTold).toBe(true);
    fail(new Error('an unhandled rejection would fail this test'));
    await clock.settle();
  });

  it('rejects when the signal aborts, also before the work has begun', async () => {
    const clock = new FakeClock();
    const stopping = new AbortController();
    const waiting = withDeadline(bounds(clock, stopping.signal), () => new Promise(() => {})).catch(String);
    stopping.abort(new Error('stopping'));
    expect(await waiting).toBe('Error: stopping');
    let isCalled = false;
    const late = withDeadline(bounds(clock, stopping.signal), () => {
      isCalled = true;
    });
    await expect(late).rejects.toThrow('stopping');
    expect(isCalled).toBe(false);
    expect(clock.pending).toBe(0);
  });
});
