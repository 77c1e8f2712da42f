import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Deadlines } from '../../../src/api/http/time-limits.js';

let late: string[];
let deadlines: Deadlines<string>;

beforeEach(() => {
  vi.useFakeTimers();
  late = [];
  deadlines = new Deadlines(100, (waiting) => late.push(waiting));
});
afterEach(() => {
  vi.useRealTimers();
});

it('tells each that waits for too long once, when it is due', () => {
  deadlines.add('first');
  vi.advanceTimersByTime(60);
  deadlines.add('second');
  vi.advanceTimersByTime(39);
  expect(late).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(late).toEqual(['first']);
  vi.advanceTimersByTime(60);
  expect(late).toEqual(['first', 'second']);
  vi.advanceTimersByTime(1000);
  expect(late).toEqual(['first', 'second']);
});

it('tells nothing of one that ended in time, and has no timer while nothing waits', () => {
  deadlines.add('first');
  deadlines.delete('first');
  deadlines.delete('first');
  vi.advanceTimersByTime(100);
  expect([late, vi.getTimerCount()]).toEqual([[], 0]);
  deadlines.add('second');
  vi.advanceTimersByTime(100);
  expect([late, vi.getTimerCount()]).toEqual([['second'], 0]);
});

it('takes one up that is added when another is late', () => {
  deadlines = new Deadlines(100, (waiting) => {
    late.push(waiting);
    if (late.length === 1) deadlines.add('again');
  });
  deadlines.add('first');
  vi.advanceTimersByTime(250);
  expect(late).toEqual(['first', 'again']);
});
