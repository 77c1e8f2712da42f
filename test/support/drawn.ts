/** Random numbers from a seed, for the moments of faults. A test that fails prints the seed. */
import { onTestFailed } from 'vitest';
import { Random } from '../simulation/random.js';

/**
 * The random numbers of the running test: the same in each run, unless `DROVER_TEST_SEED` says another seed. The machine
 * may still act in another order.
 */
export function drawn(name: string): Random {
  const seed = process.env.DROVER_TEST_SEED ?? '1';
  onTestFailed(() => console.log(`${name}: moments drawn with DROVER_TEST_SEED=${seed}`));
  return new Random(`${name} ${seed}`);
}
