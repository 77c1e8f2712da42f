/**
 * A program that takes the lock of the root in its argument. It prints one line, `held` or the reason why not, and
 * stays if it holds the lock.
 */
import { prepareRoot } from '../../../src/node/root.js';
import { acquireRootLock } from '../../../src/node/root-lock.js';

const paths = await prepareRoot(process.argv[2] ?? '');
try {
  await acquireRootLock(paths);
  console.log('held');
  // The lock alone keeps no process alive.
  process.stdin.resume();
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}
