/** Entry of a copying thread, started by copy-threads.ts. */
import { parentPort } from 'node:worker_threads';
import { type CopyBatch, performCopy } from './copy-batch.js';

parentPort?.on('message', (batch: CopyBatch) => parentPort?.postMessage(performCopy(batch)));
