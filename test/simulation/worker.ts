/** A thread of `npm run simulate`: it gets seeds, returns the result of each, and asks for more. */
import { parentPort, workerData } from 'node:worker_threads';
import { simulateRollouts } from './rollouts/rollout-world.js';
import { newSharedMetrics, simulate } from './simulate.js';

// Nobody reads a stack here, and to make them costs more than many an event. A seed that fails runs again with them.
Error.stackTraceLimit = 0;
const port = parentPort;
const metrics = newSharedMetrics();
const isOfRollouts = workerData?.isOfRollouts === true;
const masters = Number(workerData?.masters ?? 1);

port?.on('message', async (seeds: readonly string[] | undefined) => {
  if (seeds === undefined) {
    port.close();
    return;
  }
  for (const seed of seeds)
    port.postMessage(await (isOfRollouts ? simulateRollouts(seed) : simulate({ seed, masters, metrics })));
  port.postMessage('more');
});
