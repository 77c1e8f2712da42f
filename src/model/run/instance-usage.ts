/** The resources that an instance uses on its node, as the wrapper measures them every few seconds. Never stored. */
import { z } from 'zod';
import { instanceIdSchema } from '../names.js';

/** The interval of the wrappers' measurements. */
export const USAGE_EVERY_MS = 10_000;

export interface InstanceUsage {
  /** The processor time since the current start, in seconds. */
  readonly cpuSeconds: number;
  /** 100 = one core, over the time between the last two samples; null: there is only one sample. */
  readonly cpuPercent: number | null;
  readonly memoryBytes: number;
  readonly processes: number;
}

/** The form on the channel: id, CPU seconds, CPU percent, bytes of memory, processes. */
export const usageSampleSchema = z.tuple([
  instanceIdSchema,
  z.number().nonnegative(),
  z.number().nonnegative().nullable(),
  z.number().nonnegative(),
  z.int().nonnegative(),
]);
export type UsageSample = z.output<typeof usageSampleSchema>;

export function toUsageSample(id: string, usage: InstanceUsage): UsageSample {
  const { cpuSeconds, cpuPercent, memoryBytes, processes } = usage;
  return [id, cpuSeconds, cpuPercent, memoryBytes, processes];
}

/** The sum of usages; undefined: there are none. */
export function sumOfUsage(usages: Iterable<InstanceUsage>): InstanceUsage | undefined {
  let sum: InstanceUsage | undefined;
  for (const usage of usages)
    sum = {
      cpuSeconds: (sum?.cpuSeconds ?? 0) + usage.cpuSeconds,
      cpuPercent: (sum?.cpuPercent ?? 0) + (usage.cpuPercent ?? 0),
      memoryBytes: (sum?.memoryBytes ?? 0) + usage.memoryBytes,
      processes: (sum?.processes ?? 0) + usage.processes,
    };
  return sum;
}
