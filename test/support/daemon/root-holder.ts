/**
 * A program that takes the lock of the root in its first argument. It prints one line, `held` or the reason why not,
 * and stays if it holds the lock. With `--child` it starts a child that outlives it, and prints the child's pid in the
 * line.
 */
import { spawn } from 'node:child_process';
import { prepareRoot } from '../../../src/node/root.js';
import { acquireRootLock } from '../../../src/node/root-lock.js';

const [root = '', option] = process.argv.slice(2);
const paths = await prepareRoot(root);
try {
  await acquireRootLock(paths);
  console.log(option === '--child' ? `held, child ${startChild()}` : 'held');
  // Standard input keeps the process alive, because the lock alone does not.
  process.stdin.resume();
} catch (error) {
  console.log(error instanceof Error ? error.message : error);
}

function startChild(): number | undefined {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' });
  child.unref();
  return child.pid;
}
