/**
 * What the node that holds an instance says of it when it is asked: the very facts that its supervisor decides by, with
 * durations instead of instants, because clocks of machines differ. Travels over the channel.
 */
import { z } from 'zod';
import { reasonSchema } from './instance.js';

export const describedExitSchema = z.object({
  run: z.int(),
  /** Unix milliseconds, by the node's clock. */
  at: z.number(),
  agoMs: z.number(),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  /** As in the past run. */
  cause: z.string().optional(),
  wasAsked: z.boolean(),
  /** What the run wrote last, oldest first; escape sequences included. */
  lastLines: z.array(z.string()),
  /** `known`: these are all or the last; `gone`: rotated away; `unknown`: nobody saw it end. */
  output: z.enum(['known', 'gone', 'unknown']),
});
export type DescribedExit = z.output<typeof describedExitSchema>;

export const instanceDescriptionSchema = z.object({
  /** What the supervisor works towards. */
  goal: z.enum(['run', 'restart', 'stop', 'pause', 'remove', 'forget', 'wait']),
  run: z.int(),
  pid: z.int().nullable(),
  upForMs: z.number().nullable(),
  restarts: z.int(),
  failuresInARow: z.int(),
  isStarting: z.boolean(),
  /** The working directory is ready for the next start. */
  isPrepared: z.boolean(),
  /** Processes of the ended run may still live. */
  hasRemains: z.boolean(),
  /** It ended by itself, and its restart policy does not start it again. */
  isFinished: z.boolean().default(false),
  /** Up, but not ready yet, or not in time. */
  readiness: z
    .object({ reason: z.enum(['starting', 'not-ready']), message: z.string() })
    .nullable()
    .default(null),
  /** The ladder of a stop under way. `killInMs` null: SIGKILL was sent already. */
  stop: z
    .object({
      /** What was sent last: a signal, or `the stop command`. */
      signal: z.string(),
      sentAgoMs: z.number(),
      next: z.object({ signal: z.string(), inMs: z.number() }).optional(),
      killInMs: z.number().nullable(),
    })
    .nullable(),
  /** Time to the next try; null: none is put off. */
  retryInMs: z.number().nullable(),
  /** Up, with failures behind it: they are forgotten after so long. */
  forgivenInMs: z.number().nullable(),
  /** Why the last try did not lead to a process. */
  problem: z.object({ reason: reasonSchema, message: z.string() }).nullable(),
  /** Why the node cannot use the runtime; null: it can. */
  runtimeProblem: z.string().nullable(),
  /** Newest first. */
  exits: z.array(describedExitSchema),
});
export type InstanceDescription = z.output<typeof instanceDescriptionSchema>;
