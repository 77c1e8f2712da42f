/** What the etcd-size benchmark and its masters say to each other. */
import { z } from 'zod';

/** Where the state is on etcd. */
export const PREFIX = '/drover/bench';

export const changesSchema = z.object({
  count: z.int(),
  /** 0: as fast as they are written. */
  perSecond: z.number(),
  /** How many wait at once where nothing paces them. */
  clients: z.int().exactOptional(),
});

/** Milliseconds from the call of a writer until its change is durable. */
export const writtenSchema = z.object({ seconds: z.number(), p50: z.number(), p99: z.number() });
export type Written = z.output<typeof writtenSchema>;

/** Milliseconds from the report of an app at the leader until the copy of this master shows it. */
export const delaySchema = z.object({ changes: z.int(), p50: z.number(), p99: z.number() });
export type Delay = z.output<typeof delaySchema>;

/** Milliseconds since the term was won: until all that a leader runs was started, until a change was durable. */
export const takenOverSchema = z.object({
  readyMs: z.number(),
  writtenMs: z.number(),
  /** When it was durable: Unix milliseconds. */
  at: z.number(),
});
export type TakenOver = z.output<typeof takenOverSchema>;
