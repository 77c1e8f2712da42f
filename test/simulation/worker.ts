/** A thread of `npm run simulate`: it gets seeds, returns the result of each, and asks for more. */
import { parentPort } from 'node:worker_threads';
import { newSharedMetrics, simulate } from './simulate.js';

const port = parentPort;
const metrics = newSharedMetrics();

port?.on('message', async (seeds: readonly string[] | undefined) => {
  if (seeds === undefined) {
    port.close();
    return;
  }
  for (const seed of seeds) port.postMessage(await simulate({ seed, metrics }));
  port.postMessage('more');
});
