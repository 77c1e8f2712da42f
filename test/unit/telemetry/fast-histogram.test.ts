import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { FastHistogram } from '../../../src/telemetry/fast-histogram.js';

const BUCKETS = [0.1, 1, 5];
const VALUES = [0.05, 0.1, 0.5, 3, 7];

it('shows exactly what the histogram of prom-client shows', async () => {
  const ours = new Registry();
  const theirs = new Registry();
  const shared = { name: 'seconds', help: 'Some seconds.', buckets: BUCKETS };
  const fast = new FastHistogram({ ...shared, label: 'who', registers: [ours] });
  const plain = new Histogram({ ...shared, labelNames: ['who'], registers: [theirs] });
  for (const who of ['a', 'b'])
    for (const value of VALUES) {
      fast.count(who, value);
      plain.observe({ who }, value);
    }
  // Only the order of the labels may differ.
  const lines = async (registry: Registry): Promise<string[]> =>
    (await registry.metrics())
      .split('\n')
      .map((line) => line.replace(/le="([^"]*)",who="(.)"/, 'who="$2",le="$1"'));
  expect(await lines(ours)).toEqual(await lines(theirs));
});

it('shows no labels where there are none, and starts anew after a reset', async () => {
  const registry = new Registry();
  const fast = new FastHistogram({
    name: 'seconds',
    help: 'Some seconds.',
    buckets: BUCKETS,
    registers: [registry],
  });
  fast.count('', 2);
  expect(await registry.metrics()).toContain('seconds_bucket{le="5"} 1\n');
  expect(await registry.metrics()).toContain('seconds_count 1\n');
  fast.reset();
  expect(await registry.metrics()).not.toContain('seconds_count 1');
});
