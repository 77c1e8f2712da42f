/** Random rollouts. `DROVER_ROLLOUT_SEEDS=2000` plays as many; a failure names its seed. */
import { expect, it } from 'vitest';
import { simulateRollouts } from './rollout-world.js';

const SEEDS = Number(process.env.DROVER_ROLLOUT_SEEDS ?? 25);
const first = Number(process.env.DROVER_ROLLOUT_FIRST ?? 0);

it('never end one with players too early, never have too few or too many, and come to an end', async () => {
  const states = new Set<string>();
  const violations: string[] = [];
  for (let seed = first; seed < first + SEEDS; seed++) {
    const outcome = await simulateRollouts(`rollout-${seed}`);
    for (const state of outcome.states) states.add(state);
    if (outcome.violation !== undefined) violations.push(`${outcome.seed}: ${outcome.violation}`);
  }
  expect(violations).toEqual([]);
  expect([...states]).toEqual(expect.arrayContaining(['complete', 'failed', 'rolled-back']));
}, 3_600_000);
