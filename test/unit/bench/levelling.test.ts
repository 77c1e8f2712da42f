import { describe, expect, it } from 'vitest';
import { courseOf } from '../../bench/soak/levelling.js';

function course(floor: number, valueAt: (index: number) => number): { rise: number; isLevel: boolean } {
  const samples = Array.from({ length: 120 }, (_, index) => ({ atMs: index * 5000, value: valueAt(index) }));
  const { rise, isLevel } = courseOf(samples, floor);
  return { rise: Math.round(rise), isLevel };
}

describe('a figure over time', () => {
  it('is level when it grows in the first half only', () => {
    expect(course(0, (index) => Math.min(index, 59))).toEqual({ rise: 0, isLevel: true });
  });

  it('is level when it swings', () => {
    expect(course(0, (index) => 100 + 10 * (index % 4)).isLevel).toBe(true);
  });

  it('is level when it falls', () => {
    expect(course(0, (index) => 500 - index)).toEqual({ rise: -59, isLevel: true });
  });

  it('is not level when it goes on growing by more than 5 % of its mean', () => {
    expect(course(0, (index) => 100 + index / 10)).toEqual({ rise: 6, isLevel: false });
    expect(course(0, (index) => 100 + index / 15)).toEqual({ rise: 4, isLevel: true });
  });

  it('may rise by the floor, where 5 % would be less', () => {
    expect(course(6, (index) => 10 + index / 10)).toEqual({ rise: 6, isLevel: true });
  });
});
