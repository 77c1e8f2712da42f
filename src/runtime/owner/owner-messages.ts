/** Checks the owner's messages (`OwnerMessage` of protocol.ts) before the daemon acts on them. */
import { z } from 'zod';
import { logPlaceSchema, outputSpanSchema } from '../../model/run/past-exit.js';

const runSchema = z.object({ instanceId: z.string(), run: z.int() });

const exitSchema = z.object({
  code: z.int().nullable(),
  signal: z.string().nullable(),
  at: z.number(),
  ticks: z.number(),
  output: outputSpanSchema.optional(),
});

const processSchema = z.object({
  pid: z.int().nonnegative(),
  startTime: z.number(),
  session: z.object({ pid: z.int().positive(), startTime: z.number() }).optional(),
});

const heldSchema = runSchema.extend({
  ...processSchema.shape,
  exit: exitSchema.nullable(),
  outputFrom: logPlaceSchema.optional(),
});

/** The known messages. Fields that a later owner adds are ignored. */
const messageSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('welcome'),
    protocol: z.int(),
    pid: z.int(),
    held: z.array(heldSchema),
  }),
  z.object({ type: z.literal('refused'), protocol: z.int(), pid: z.int(), reason: z.string() }),
  z.object({ type: z.literal('replaced') }),
  z.object({
    type: z.literal('done'),
    id: z.int(),
    process: processSchema.optional(),
  }),
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

export type CheckedMessage = z.output<typeof messageSchema>;

/** Throws zod's error for a message that no owner of this protocol sends. */
export function parseOwnerMessage(value: unknown): CheckedMessage {
  return messageSchema.parse(value);
}
