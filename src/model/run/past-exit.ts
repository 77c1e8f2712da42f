/** The end of one run of an instance, as its node remembers it, and the place of its output in the log. */
import { z } from 'zod';

/** How many past exits of an instance a node remembers. */
export const KEPT_EXITS = 5;

/** A place in an instance's log: the segment, named by the number of its first line, and a byte in it. */
export const logPlaceSchema = z.object({ segment: z.int().min(1), offset: z.int().min(0) });
export type LogPlace = z.output<typeof logPlaceSchema>;

/** The output of one run: from its first byte to the last one before the run ended. */
export const outputSpanSchema = z.object({ from: logPlaceSchema, to: logPlaceSchema });
export type OutputSpan = z.output<typeof outputSpanSchema>;

/** Who or what ended the run, when neither code nor signal tells it. */
const exitKindSchema = z.enum(['out-of-memory', 'not-alive']);

export const exitSchema = z.object({
  /** Exit status; null when a signal ended the process. */
  code: z.int().nullable(),
  /** Signal name such as `SIGKILL`, or null. */
  signal: z.string().nullable(),
  /** Unix milliseconds. */
  at: z.number(),
  /** Where the run's output lies in the instance's log; absent: unknown. */
  output: outputSpanSchema.optional(),
  /** True when the runtime knows that the memory limit ended the run (docker). Else the node's limits know it. */
  isOutOfMemory: z.boolean().optional(),
  /** The cause in words, when neither code nor signal tells it: `its container was removed`. */
  cause: z.string().optional(),
  kind: exitKindSchema.optional(),
});
export type Exit = Readonly<z.output<typeof exitSchema>>;

export const pastRunSchema = z.object({
  run: z.int(),
  /** When the start was requested, in Unix milliseconds by the node's clock; absent: not known. */
  begunAt: z.number().optional(),
  /** The highest measured memory; absent: this daemon never measured it. */
  mostMemoryBytes: z.number().optional(),
  /** When the run ended, in Unix milliseconds by the node's clock. */
  at: z.number(),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  /** The cause when neither code nor signal tells it: `killed: out of memory at 64 MB`. */
  cause: z.string().optional(),
  kind: exitKindSchema.optional(),
  /** True when somebody asked for the stop or restart that ended the run. */
  wasAsked: z.boolean(),
  /** Null: unknown, because the process ended while no owner held its terminal. */
  output: outputSpanSchema.nullable(),
});
export type PastRun = Readonly<z.output<typeof pastRunSchema>>;
