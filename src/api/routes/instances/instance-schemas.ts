/** The input and the answers of the instance routes, as zod schemas. */
import { z } from 'zod';
import type { LogPoint } from '../../../logs/log-batch.js';
import { instanceInfoSchema, instanceStateSchema } from '../../../model/instance.js';
import { shownInstanceId } from '../../../model/names.js';
import { DEFAULT_LOG_LINES, MAX_LOG_LINES } from '../../../model/plain/command-limits.js';
import { sendableSignalSchema } from '../../../model/stopping.js';
import { logPointsProblem, parseLogPoint } from '../../../operations/log-point.js';
import { flag, wholeNumber } from '../../http/route.js';

/** More players than this are a mistake. Some apps report -1 as `no limit`. */
const sensibleNumber = z.number().min(-1).max(1_000_000_000);
/**
 * A number that an app reports beside its state. Some apps write it as text. A number that makes no sense is left out,
 * not refused.
 */
const reportedNumber = z
  .union([
    sensibleNumber,
    z
      .string()
      .regex(/^-?\d{1,15}(?:\.\d{1,15})?$/)
      .transform(Number)
      .pipe(sensibleNumber),
  ])
  .optional()
  .catch(undefined);

/** The errors of every route that asks the node of an instance. */
export const NODE_ERRORS = ['DRV_NODE_DISCONNECTED', 'DRV_CHANNEL_CALL_FAILED'] as const;

export const createBody = z.object({
  configurationName: z.string().describe('name of an existing configuration'),
});

/** A time, an age or the number of a line. */
export const logPoint = z.string().transform((text, context): LogPoint => {
  const point = parseLogPoint(text);
  if (!('problem' in point)) return point;
  context.addIssue({ code: 'custom', message: point.problem });
  return z.NEVER;
});

/** Refuses a part of a log that ends before it begins. */
export function checkLogPoints(
  { since, until }: { readonly since?: LogPoint | undefined; readonly until?: LogPoint | undefined },
  context: z.RefinementCtx,
): void {
  const message = logPointsProblem(since, until);
  if (message !== undefined) context.addIssue({ code: 'custom', message, path: ['until'] });
}

export const logsQuery = z
  .object({
    lines: wholeNumber(1, MAX_LOG_LINES)
      .default(DEFAULT_LOG_LINES)
      .describe('how many of the last lines, counted in the part that is asked for'),
    ansi: flag.describe('keep colours and other terminal sequences'),
    since: logPoint
      .optional()
      .describe('leave out earlier lines: a time (2026-01-31T12:00:00Z), an age (10m) or a line number'),
    until: logPoint.optional().describe('leave out later lines: a time, an age or a line number'),
    timestamps: flag.describe('say when each line was written, to the second'),
    previous: flag.describe('only the output of the run before the present one'),
    removed: flag.describe(
      'also of an instance that was removed since this master started, while its node keeps the log',
    ),
  })
  .superRefine(checkLogPoints);

export const stateBody = z.looseObject({
  state: instanceStateSchema,
  lastHeartbeat: z
    .int()
    .min(0)
    .optional()
    .describe('Unix milliseconds; shown until the next beat; default: now'),
  players: reportedNumber,
  maxPlayers: reportedNumber,
  tps: reportedNumber,
});

export const lifecycleQuery = z.object({ target: z.enum(['start', 'stop', 'restart']) });

export type LifecycleTarget = z.output<typeof lifecycleQuery>['target'];

export const executeBody = z.object({
  command: z
    .string()
    // Half a surrogate pair cannot be encoded, so the instance would get another text.
    .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be well-formed Unicode text' })
    .describe('the text for standard input; a newline is added if it lacks one'),
});

export const signalBody = z.object({
  signal: sendableSignalSchema.describe(
    'the name of the signal, such as `SIGHUP`, which has many servers read their settings again',
  ),
  all: z
    .boolean()
    .default(false)
    .describe('true: to every process of the instance; else to its main process alone'),
});

export const instanceList = z.array(instanceInfoSchema);
export const instanceMessage = z.object({ message: z.string(), instanceId: shownInstanceId });
export const lifecycleMessage = instanceMessage.extend({ target: z.string() });
export const signalMessage = instanceMessage.extend({ signal: sendableSignalSchema });
export const executeMessage = instanceMessage.extend({ command: z.string() });
