/** What an instance used, as the charts take it. */
import { expect, it } from 'vitest';
import {
  clockLead,
  isKnown,
  seriesOf,
  withSample,
} from '../../../../src/dashboard/screens/instance/usage/usage-series.js';

const ring = {
  instanceId: 'a1',
  everyMs: 15_000,
  at: [15_000, 30_000],
  cpuPercent: [null, 12],
  memoryBytes: [null, 1_024],
  players: [null, null],
};
const sample = (at: number) => ({ at, cpu: 50, memory: 2_048, players: 3 });

it('puts what is measured now behind the ring', () => {
  expect(withSample(seriesOf(ring), sample(40_000))).toEqual({
    at: [15, 30, 40],
    cpu: [null, 12, 50],
    memory: [null, 1_024, 2_048],
    players: [null, null, 3],
  });
});

it('leaves out what is not newer, and what is older than half an hour', () => {
  const series = seriesOf(ring);
  expect(withSample(series, sample(30_000))).toBe(series);
  expect(withSample(series, sample(30_000 + 30 * 60_000)).at).toEqual([30, 1830]);
  expect(withSample(series, sample(10_000_000)).at).toEqual([10_000]);
});

it('has no line for what was never known', () => {
  expect([isKnown(ring.players), isKnown(ring.cpuPercent), isKnown([])]).toEqual([false, true, false]);
});

it('puts samples of now right behind the last one when the clocks differ', () => {
  expect(clockLead(undefined, 15_000, 5)).toBe(0);
  expect(clockLead(100_000, 15_000, 112_000)).toBe(0);
  expect(clockLead(100_000, 15_000, 40_000)).toBe(-60_000);
  expect(clockLead(100_000, 15_000, 400_000)).toBe(300_000);
});
