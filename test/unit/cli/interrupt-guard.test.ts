import { beforeEach, expect, it } from 'vitest';
import { InterruptGuard } from '../../../src/cli/interrupt-guard.js';

const EMPTY = { isLineEmpty: true };
const TYPED = { isLineEmpty: false };

let now: number;
let guard: InterruptGuard;
beforeEach(() => {
  now = 0;
  guard = new InterruptGuard(() => now);
});

it('only clears a line on which something is typed, however often', () => {
  expect([guard.press(TYPED), guard.press(TYPED), guard.press(TYPED)]).toEqual(['clear', 'clear', 'clear']);
});

it('asks on an empty line first, and ends with the second press', () => {
  expect(guard.press(EMPTY)).toBe('ask');
  now = 4999;
  expect(guard.press(EMPTY)).toBe('end');
});

it('asks anew when the second press comes too late', () => {
  expect(guard.press(EMPTY)).toBe('ask');
  now = 5000;
  expect(guard.press(EMPTY)).toBe('ask');
  now = 9999;
  expect(guard.press(EMPTY)).toBe('end');
});

it('asks anew after a line was cleared or run in between', () => {
  guard.press(EMPTY);
  expect([guard.press(TYPED), guard.press(EMPTY)]).toEqual(['clear', 'ask']);
  guard.reset();
  expect(guard.press(EMPTY)).toBe('ask');
});
