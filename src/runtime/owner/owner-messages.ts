/** The owner's messages, which the daemon checks before it acts on them. The owner knows only their types. */
import { z } from 'zod';
import { logPlaceSchema, outputSpanSchema } from '../../model/run/past-exit.js';
import type { OwnerMessage } from './protocol.js';

const runSchema = z.object({ instanceId: z.string(), run: z.int() });

export const exitSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  /** Unix milliseconds. */
  at: z.number(),
  /** The moment of the exit in clock ticks since boot, the unit of process start times; 0: in an earlier boot. */
  ticks: z.number(),
  /** Where the run's output lies in the log. Absent when no log could be opened. */
  output: outputSpanSchema.optional(),
});

export const processSchema = z.object({
  /** The leader's pid. 0 (only with an exit): unknown, because the session was lost while it began. */
  pid: z.int().nonnegative(),
  /** Field 22 of /proc/<pid>/stat; 0 when the process ended before it could be read, or in an earlier boot. */
  startTime: z.number(),
  /** The leader of the session and process group, when it is not the process of `pid`. */
  session: z.object({ pid: z.int().positive(), startTime: z.number() }).optional(),
});

export const heldSchema = runSchema.extend({
  ...processSchema.shape,
  exit: exitSchema.nullable(),
  /** Where the run's output begins in the log. Absent when no log could be opened. */
  outputFrom: logPlaceSchema.optional(),
});

/** The known messages. Fields that a later owner adds are ignored. */
export const messageSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome'), protocol: z.int(), pid: z.int(), held: z.array(heldSchema) }),
  z.object({ type: z.literal('refused'), protocol: z.int(), pid: z.int(), reason: z.string() }),
  /** Another daemon took over, and this connection ends. */
  z.object({ type: z.literal('replaced') }),
  /** The answer to a request. `process`: only in the answer to a start. */
  z.object({ type: z.literal('done'), id: z.int(), process: processSchema.optional() }),
  z.object({ type: z.literal('failed'), id: z.int(), code: z.string(), message: z.string() }),
  runSchema.extend({ type: z.literal('exit'), exit: exitSchema }),
  z.object({ type: z.literal('attached'), isTransparent: z.boolean() }),
  z.object({ type: z.literal('not-attached'), code: z.string(), message: z.string() }),
  z.object({ type: z.literal('output') }),
  z.object({ type: z.literal('input-refused'), message: z.string() }),
  z.object({
    type: z.literal('ended'),
    reason: z.enum(['exited', 'left', 'too-slow', 'lost']),
    message: z.string(),
  }),
]);

/** Throws zod's error for a message that no owner of this protocol sends. */
export function parseOwnerMessage(value: unknown): OwnerMessage {
  return messageSchema.parse(value);
}
