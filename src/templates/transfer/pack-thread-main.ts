/** Entry of a thread that works with packs, started by pack-threads.ts. */
import { answerJobs } from '../../loop/worker-thread.js';
import { performCopy } from './copy-batch.js';
import { performHash } from './hash-batch.js';
import type { PackJob } from './pack-threads.js';

answerJobs((job: PackJob) => {
  if (job.do === 'hash') return performHash(job);
  performCopy(job);
  return undefined;
});
