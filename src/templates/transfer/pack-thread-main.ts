/** Entry of a thread that works with packs, started by pack-threads.ts. */
import { parentPort } from 'node:worker_threads';
import { performCopy } from './copy-batch.js';
import { performHash } from './hash-batch.js';
import type { AskedJob, JobAnswer, JobFailure, PackJob } from './pack-threads.js';

parentPort?.on('message', async ({ id, job }: AskedJob) => parentPort?.postMessage(await answer(id, job)));

async function answer(id: number, job: PackJob): Promise<JobAnswer> {
  try {
    if (job.do === 'hash') return { id, hashes: await performHash(job), failure: undefined };
    performCopy(job);
    return { id, hashes: undefined, failure: undefined };
  } catch (error) {
    return { id, hashes: undefined, failure: failureOf(error) };
  }
}

function failureOf(error: unknown): JobFailure {
  const { message, code, syscall, path }: NodeJS.ErrnoException =
    error instanceof Error ? error : new Error(String(error));
  return { message, code, syscall, path };
}
