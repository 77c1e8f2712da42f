/**
 * The facts that a node tells about an instance for `why`: those by which its supervisor decides. They hold durations,
 * not timestamps, because the clocks of machines differ. They travel over the channel.
 */
import { z } from 'zod';
import { reasonSchema } from '../instance.js';

/** The most lines that the schema accepts; a node sends fewer. */
const MOST_LINES = 100;
const MOST_EXITS = 20;
/** A node names fewer. */
const MOST_LEFT = 100;
const MOST_CHARS = 65_536;

const text = z.string().max(MOST_CHARS);
/** A line of an instance's output: the node reads 64 KiB at most, and replaces invalid UTF-8. */
const line = z.string().max(2 * MOST_CHARS);

const describedExitSchema = z.object({
  run: z.int(),
  /** Unix milliseconds, by the node's clock. */
  at: z.number(),
  agoMs: z.number(),
  /** `begunAt` and `mostMemoryBytes` are as in `past-exit.ts`. */
  begunAt: z.number().optional(),
  mostMemoryBytes: z.number().optional(),
  code: z.int().nullable(),
  signal: text.nullable(),
  /** The cause when neither code nor signal tells it, as in `past-exit.ts`. */
  cause: text.optional(),
  wasAsked: z.boolean(),
  /** The last lines of the run, oldest first, escape sequences included. */
  lastLines: z.array(line).max(MOST_LINES),
  /**
   * `known`: these are all lines of the run, or its last ones. `gone`: rotated away. `unknown`: no daemon saw the run
   * end.
   */
  output: z.enum(['known', 'gone', 'unknown']),
});
export type DescribedExit = z.output<typeof describedExitSchema>;

export const instanceDescriptionSchema = z.object({
  /** The supervisor's goal for the instance. */
  goal: z.enum(['run', 'restart', 'stop', 'pause', 'remove', 'forget', 'wait']),
  run: z.int(),
  pid: z.int().nullable(),
  upForMs: z.number().nullable(),
  restarts: z.int(),
  failuresInARow: z.int(),
  isStarting: z.boolean(),
  /** True when the working directory is ready for the next start. */
  isPrepared: z.boolean(),
  /** True when processes of the ended run may still live. */
  hasRemains: z.boolean(),
  /** The names of the processes that an end left and that still live; empty: none was found, or not known. */
  left: z.array(text).max(MOST_LEFT).default([]),
  /** True when the run ended by itself, and its restart policy does not start it again. */
  isFinished: z.boolean().default(false),
  /** The state of the readiness check: the process is up, but not ready yet, or was not ready in time. */
  readiness: z
    .object({ reason: z.enum(['starting', 'not-ready']), message: text })
    .nullable()
    .default(null),
  /** Why the instance counts as not alive; null: it does not. */
  notAlive: text.nullable().default(null),
  /** The stop under way, or the ladder of what an end left. `killInMs` null: SIGKILL was sent already. */
  stop: z
    .object({
      /** The latest rung of the stop ladder: a signal, `the stop command`, or `nothing`. */
      signal: text,
      sentAgoMs: z.number(),
      next: z.object({ signal: text, inMs: z.number() }).optional(),
      killInMs: z.number().nullable(),
      /** Why `next` waits: the runtime did not take it. Absent: nothing was refused. */
      problem: text.optional(),
    })
    .nullable(),
  /** Time until the next try; null: no try is delayed. */
  retryInMs: z.number().nullable(),
  /** Time until the failures of a running process are forgotten; null: there are none. */
  forgivenInMs: z.number().nullable(),
  /** Why the last try started no process. */
  problem: z.object({ reason: reasonSchema, message: text }).nullable(),
  /** Why the node cannot use the runtime; null: it can. */
  runtimeProblem: text.nullable(),
  /** The past exits, newest first. */
  exits: z.array(describedExitSchema).max(MOST_EXITS),
});
export type InstanceDescription = z.output<typeof instanceDescriptionSchema>;
