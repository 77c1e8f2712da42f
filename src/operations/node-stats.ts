/** Reads load and memory of the serving process and its machine, for `node info` and `GET /node`. */
import { availableParallelism, freemem, loadavg, totalmem } from 'node:os';
import { z } from 'zod';

const MB = 1024 * 1024;

export const nodeStatsSchema = z.object({
  version: z.string().describe('the version of Drover'),
  nodeVersion: z.string().describe('the version of Node.js'),
  pid: z.int(),
  uptimeSeconds: z.int().describe('how long the daemon runs'),
  cpus: z.int(),
  loadAverage: z.array(z.number()).describe('the load over 1, 5 and 15 minutes'),
  memoryTotalMB: z.int(),
  memoryFreeMB: z.int(),
  processRssMB: z.int(),
  processHeapUsedMB: z.int(),
});
export type NodeStats = z.output<typeof nodeStatsSchema>;

export function readNodeStats(version: string): NodeStats {
  const { rss, heapUsed } = process.memoryUsage();
  return {
    version,
    nodeVersion: process.version,
    pid: process.pid,
    uptimeSeconds: Math.floor(process.uptime()),
    cpus: availableParallelism(),
    loadAverage: loadavg(),
    memoryTotalMB: Math.round(totalmem() / MB),
    memoryFreeMB: Math.round(freemem() / MB),
    processRssMB: Math.round(rss / MB),
    processHeapUsedMB: Math.round(heapUsed / MB),
  };
}
