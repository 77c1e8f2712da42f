/** Chance that can be had again: the moments of faults come from a seed, which a test that fails prints. */
import { onTestFailed } from 'vitest';
import { Random } from '../simulation/random.js';

/** Called in a test. `DROVER_TEST_SEED` gives the same moments again; what the machine makes of them may differ. */
export function drawn(name: string): Random {
  const seed = process.env.DROVER_TEST_SEED ?? String(Date.now());
  onTestFailed(() => console.log(`${name}: moments drawn with DROVER_TEST_SEED=${seed}`));
  return new Random(`${name} ${seed}`);
}
