import { describe, expect, it } from 'vitest';
import { Backoff } from '../../../src/loop/backoff.js';

const longest = (): number => 1;
const shortest = (): number => 0;

function delays(backoff: Backoff, count: number): number[] {
  return Array.from({ length: count }, () => backoff.next('a'));
}

describe('Backoff', () => {
  it('doubles the delay from 50 ms and stays at 60 s', () => {
    const expected = [50, 100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000];
    expect(delays(new Backoff(longest), 13)).toEqual(expected);
  });

  it('draws the delay from the upper half', () => {
    expect(delays(new Backoff(shortest), 3)).toEqual([25, 50, 100]);
    expect(delays(new Backoff(() => 0.5), 3)).toEqual([37.5, 75, 150]);
  });

  it('takes base and limit from its options, and a base above the limit as the limit', () => {
    expect(delays(new Backoff(longest, { baseMs: 10, maxMs: 30 }), 4)).toEqual([10, 20, 30, 30]);
    expect(delays(new Backoff(longest, { baseMs: 100, maxMs: 30 }), 2)).toEqual([30, 30]);
  });

  it('counts each key on its own', () => {
    const backoff = new Backoff(longest);
    backoff.next('a');
    backoff.next('a');
    expect(backoff.next('b')).toBe(50);
    expect(backoff.next('a')).toBe(200);
  });

  it('starts anew after clear and keeps nothing of a cleared key', () => {
    const backoff = new Backoff(longest);
    for (let key = 0; key < 1000; key++) backoff.next(`key ${key}`);
    for (let key = 0; key < 1000; key++) backoff.clear(`key ${key}`);
    expect(backoff.size).toBe(0);
    expect(backoff.next('key 1')).toBe(50);
  });

  it('stays at the limit however often a key fails', () => {
    expect(delays(new Backoff(longest), 5000).at(-1)).toBe(60_000);
  });
});
