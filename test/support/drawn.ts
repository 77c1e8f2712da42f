/** Random numbers from a seed, for the moments of faults. A test that fails prints the seed. */
import { onTestFailed } from 'vitest';
import { Random } from '../simulation/random.js';

/**
 * The random numbers of the running test. `DROVER_TEST_SEED` gives the same moments again, but the machine may still
 * act in another order.
 */
export function drawn(name: string): Random {
  const seed = process.env.DROVER_TEST_SEED ?? String(Date.now());
  onTestFailed(() => console.log(`${name}: moments drawn with DROVER_TEST_SEED=${seed}`));
  return new Random(`${name} ${seed}`);
}
