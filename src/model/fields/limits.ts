/** Bounds of an instance beside RAM and CPU. */
import { z } from 'zod';

const filesSchema = z.int().min(64).max(1_048_576);
const fileLimitsSchema = z
  .object({ soft: filesSchema, hard: filesSchema })
  .refine(({ soft, hard }) => soft <= hard, { path: ['soft'], error: 'must not be greater than hard' });
const rateSchema = z.int().min(1).max(100_000);
/** The limits of open files of each process. */
export type FileLimits = z.output<typeof fileLimitsSchema>;

export const limitsSchema = z.object({
  /** The most processes and threads at a time. Absent: 4096. */
  pids: z.int().min(1).max(4_194_304).optional(),
  /** The most open files of each process. Absent: 1024 soft, and Drover's own hard limit. */
  nofile: z.union([filesSchema, fileLimitsSchema]).optional(),
  /** The share of a busy disk, beside 100 of an instance without. */
  ioWeight: z.int().min(10).max(1000).optional(),
  /** The most MiB a second that are read from the disk. */
  readMBps: rateSchema.optional(),
  writeMBps: rateSchema.optional(),
});
/** The limits of the disk. */
export type IoLimits = Omit<z.output<typeof limitsSchema>, 'pids' | 'nofile'>;
