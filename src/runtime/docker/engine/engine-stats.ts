/** Reads an engine's figures of a container. The versions of control groups name them differently. Pure. */
import { z } from 'zod';
import type { Usage } from '../../runtime.js';

const NS_PER_S = 1e9;

/** Only the fields in use; an ended container has none of them. */
export const statsSchema = z.object({
  cpu_stats: z.object({ cpu_usage: z.object({ total_usage: z.number().default(0) }) }),
  memory_stats: z
    .object({
      usage: z.number().default(0),
      stats: z
        .object({ total_inactive_file: z.number().optional(), inactive_file: z.number().optional() })
        .default({}),
    })
    .default({ usage: 0, stats: {} }),
  pids_stats: z.object({ current: z.int().default(0) }).default({ current: 0 }),
});

/** Memory without the file cache that the kernel would give back, like the engines' own tools show it. */
export function usageOf(stats: z.output<typeof statsSchema>): Usage {
  const { usage, stats: details } = stats.memory_stats;
  const cache = details.total_inactive_file ?? details.inactive_file ?? 0;
  return {
    cpuSeconds: stats.cpu_stats.cpu_usage.total_usage / NS_PER_S,
    memoryBytes: Math.max(0, usage - cache),
    processes: stats.pids_stats.current,
  };
}
