/** The drain of a node: its part of the node's record, and its progress as operators see it. */
import { z } from 'zod';

/** The drain in the node's record. Instants are Unix milliseconds. */
export const drainSchema = z.object({
  since: z.number(),
  /** The end of the wait for players. */
  deadline: z.number(),
  /** When the last instance had been moved; null: some instances are still to be moved. */
  doneAt: z.number().nullable(),
});
export type Drain = z.output<typeof drainSchema>;

/** The progress of a drain. */
export const drainProgressSchema = z.object({
  since: z.number().describe('Unix milliseconds'),
  deadline: z.number().describe('Unix milliseconds; until then players are waited for'),
  remainingMs: z.number().describe('until the deadline; 0: it is over'),
  isDrained: z.boolean().describe('nothing is left to be moved or stopped'),
  left: z.int().describe('instances that are still to be moved or stopped'),
  waitingFor: z.array(z.string()).describe('what the drain waits for, and what stays, for a person'),
});
export type DrainProgress = z.output<typeof drainProgressSchema>;
