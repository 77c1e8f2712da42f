/** Limits of a node that measure, so that wrappers tell what instances use as often as real ones do. */
import { advisoryLimits, type ResourceLimits } from '../../../src/runtime/limits/resource-limits.js';

export function measuringLimits(): ResourceLimits {
  return {
    ...advisoryLimits('nothing runs'),
    advisory: null,
    usage: () => ({ cpuSeconds: process.uptime() / 10, memoryBytes: 512 * 1024 * 1024, processes: 3 }),
  };
}
