/** Input and answers of the instance routes, as zod schemas. */
import { z } from 'zod';
import { instanceInfoSchema, instanceStateSchema } from '../../model/instance.js';

export const MAX_LOG_LINES = 1000;
export const DEFAULT_LOG_LINES = 100;
const LINES_RULE = `must be a whole number from 1 to ${MAX_LOG_LINES}`;
const TARGET_RULE = 'must be one of start, stop, restart';
/**
 * A number that an app reports beside its state. Some apps write it as text; one that makes no sense is left out
 * and not refused.
 */
const reportedNumber = z
  .union([
    z.number(),
    z
      .string()
      .regex(/^-?\d{1,15}(?:\.\d{1,15})?$/)
      .transform(Number),
  ])
  .optional()
  .catch(undefined);

export const instanceParams = z.object({ id: z.string().describe('instance id, 6 characters') });

export const createBody = z.object({
  configurationName: z.string().describe('name of an existing configuration'),
});

export const logsQuery = z.object({
  lines: z.coerce
    .number({ error: LINES_RULE })
    .int(LINES_RULE)
    .min(1, LINES_RULE)
    .max(MAX_LOG_LINES, LINES_RULE)
    .default(DEFAULT_LOG_LINES),
  ansi: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .describe('keep colours and other terminal sequences'),
});

export const stateBody = z.looseObject({
  state: instanceStateSchema,
  lastHeartbeat: z
    .int('must be a whole number of milliseconds')
    .min(0)
    .nullish()
    .describe('Unix milliseconds; default: now'),
  players: reportedNumber,
  maxPlayers: reportedNumber,
  tps: reportedNumber,
});

export const lifecycleQuery = z.object({
  target: z.enum(['start', 'stop', 'restart'], { error: TARGET_RULE }),
});

export type LifecycleTarget = z.output<typeof lifecycleQuery>['target'];

export const executeBody = z.object({
  command: z
    .string()
    // Half a surrogate pair cannot be encoded: the instance would get another text.
    .refine((text) => !/\p{Surrogate}/u.test(text), { error: 'must be well-formed Unicode text' })
    .describe('written to standard input, with a newline unless it ends with one'),
});

export const instanceList = z.array(instanceInfoSchema);
export const instanceMessage = z.object({ message: z.string(), instanceId: z.string() });
export const lifecycleMessage = instanceMessage.extend({ target: z.string() });
export const executeMessage = instanceMessage.extend({ command: z.string() });
export const logsAnswer = z.object({
  lines: z.array(z.string()),
  totalLines: z.int(),
  instanceId: z.string(),
});
