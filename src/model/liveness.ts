/** When a running instance counts as alive, by its configuration, and what becomes of one that does not. */
import { z } from 'zod';
import type { OwnPorts } from './fields/ports.js';
import { CHECKED_PORT, readinessText } from './readiness.js';

const CHECKS = ['tcpPort', 'httpGet', 'logSilenceSeconds', 'heartbeatSeconds'] as const;

const silenceSchema = z.int().min(1).max(86_400).optional();

export const livenessSchema = z
  .object({
    ...CHECKED_PORT,
    /** The longest time without a line in the log. */
    logSilenceSeconds: silenceSchema,
    /** The longest time without a `PUT state` of the instance. */
    heartbeatSeconds: silenceSchema,
    intervalSeconds: z.number().min(0.1).max(3600).default(10),
    /** How many looks in a row must fail. */
    failures: z.int().min(1).max(100).default(3),
    do: z
      .enum(['restart', 'report'])
      .default('restart')
      .describe('`restart`: the stop ladder ends it, and it starts again; `report`: it is only said'),
  })
  .refine((liveness) => CHECKS.filter((check) => liveness[check] !== undefined).length === 1, {
    error: `must hold exactly one of ${CHECKS.join(', ')}`,
  });

export type Liveness = z.output<typeof livenessSchema>;

/** The fault of an instance whose looks fail. `own`: its ports. `problem`: what the last try at its port found. */
export function notAliveText(liveness: Liveness, own: OwnPorts, problem: string): string {
  const { logSilenceSeconds: log, heartbeatSeconds: beat } = liveness;
  if (log !== undefined) return `not alive: no line in its log for ${log} s`;
  if (beat !== undefined) return `not alive: no PUT state for ${beat} s`;
  return `not alive: expected ${readinessText(liveness, own)}, but ${problem}`;
}
