/**
 * Makes a failing seed small: the fewest of its first operations that still fail, then without those that can be
 * left out. With fewer events the same invariant may break in another way. The result is for a person to read.
 */
import { type Outcome, type SimulationOptions, simulate } from './simulate.js';

/** Trials; each is one simulation. */
const MOST_TRIALS = 150;

interface Shrunk {
  readonly outcome: Outcome;
  readonly options: SimulationOptions;
}

export async function shrink(options: SimulationOptions, failing: Outcome): Promise<Shrunk> {
  let best: Shrunk = { outcome: failing, options: { ...options, operations: failing.operations } };
  let trials = 0;
  const fails = async (next: SimulationOptions): Promise<boolean> => {
    if (trials++ >= MOST_TRIALS) return false;
    const outcome = await simulate(next);
    if (outcome.violation !== undefined) best = { outcome, options: next };
    return outcome.violation !== undefined;
  };
  let enough = failing.operations;
  for (let low = 0; low < enough; ) {
    const middle = (low + enough) >> 1;
    if (await fails({ ...options, operations: middle })) enough = middle;
    else low = middle + 1;
  }
  for (let index = enough - 1; index >= 0; index--) {
    const without = new Set([...(best.options.without ?? []), index]);
    await fails({ ...options, operations: enough, without });
  }
  return best;
}
