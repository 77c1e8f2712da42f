/**
 * Fleets with three masters on a simulated etcd: leaders that die, stand still, hand over or are cut off, and an etcd that
 * loses answers, is slow, full, compacted or away. `DROVER_MASTER_SEEDS=2000` plays as many; a failing seed is printed with
 * the command that repeats it.
 */
import { describe, expect, it } from 'vitest';
import { reportOf } from '../report.js';
import { newSharedMetrics, simulate } from '../simulate.js';

const SEEDS = Number(process.env.DROVER_MASTER_SEEDS ?? 25);
const first = Number(process.env.DROVER_MASTER_FIRST ?? 0);
const metrics = newSharedMetrics();

describe('three masters', { timeout: 3_600_000 }, () => {
  it('write one after the other, lose nothing that was acknowledged, and touch nothing that runs', async () => {
    let terms = 0;
    for (let seed = first; seed < first + SEEDS; seed++) {
      const options = { seed: String(seed), masters: 3, metrics };
      const outcome = await simulate(options);
      if (outcome.violation !== undefined) expect.fail(await reportOf(options, outcome));
      terms += outcome.terms ?? 0;
    }
    expect(terms).toBeGreaterThan(2 * SEEDS);
  });

  it('do the same again for the same seed', async () => {
    const options = { seed: 'twice', masters: 3, metrics, isTraced: true };
    const outcome = await simulate(options);
    expect(outcome.trace.length).toBeGreaterThan(100);
    expect((await simulate(options)).trace).toEqual(outcome.trace);
  });
});
