/** How one start of an instance ended, as its node remembers it, and where in the kept log its output stands. */
import { z } from 'zod';

/** The last ends that a node remembers of an instance. */
export const KEPT_EXITS = 5;

/** A place in an instance's log: the segment by the number of its first line, and the byte in it. */
export const logPlaceSchema = z.object({ segment: z.int().min(1), offset: z.int().min(0) });
export type LogPlace = z.output<typeof logPlaceSchema>;

/** What one run wrote: from its first byte to the last one before it ended. */
export const outputSpanSchema = z.object({ from: logPlaceSchema, to: logPlaceSchema });
export type OutputSpan = z.output<typeof outputSpanSchema>;

export const pastRunSchema = z.object({
  run: z.int(),
  /** Unix milliseconds, by the node's clock. */
  at: z.number(),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  /** What neither code nor signal can tell, in words: `killed: out of memory at 64 MB`. */
  cause: z.string().optional(),
  /** It ended in a stop or restart that was asked for. */
  wasAsked: z.boolean(),
  /** Null: not known, the process ended while nobody held its terminal. */
  output: outputSpanSchema.nullable(),
});
export type PastRun = Readonly<z.output<typeof pastRunSchema>>;
