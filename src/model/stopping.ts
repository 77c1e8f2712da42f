/** How an instance is stopped, and when it is started again, by its configuration. */
import { z } from 'zod';
import type { Expose } from './fields/expose.js';
import { STOPPING_DEFAULTS } from './plain/configuration-defaults.js';
import { SENDABLE_SIGNALS } from './plain/sendable-signals.js';

/** The longest line that standard input takes (src/runtime/owner/stdin-limits.ts). */
const MAX_COMMAND_BYTES = 4000;

/** The text that is written to standard input, with a newline, when a stop begins. */
export const stopCommandSchema = z
  .string()
  .min(1)
  .refine((text) => Buffer.byteLength(text) <= MAX_COMMAND_BYTES, {
    error: `must be at most ${MAX_COMMAND_BYTES} bytes`,
  })
  .regex(/^[^\x00\n\r]*$/, 'must be one line');

export const stopSignalSchema = z.enum([
  'SIGTERM',
  'SIGINT',
  'SIGQUIT',
  'SIGHUP',
  'SIGUSR1',
  'SIGUSR2',
  'SIGWINCH',
  'SIGKILL',
]);

export type StopSignal = z.output<typeof stopSignalSchema>;

export const sendableSignalSchema = z.enum(SENDABLE_SIGNALS);

/**
 * Which processes of an instance get the stop signal first. `main`: the program, and the rest when it has ended. `all`:
 * everything at once.
 */
export const stopToSchema = z.enum(['main', 'all']);
export type StopTo = z.output<typeof stopToSchema>;

/** The time from the beginning of a stop to SIGKILL. */
export const stopTimeoutSecondsSchema = z.int().min(0).max(3600);

/** When a process that ended by itself is started again. */
export const restartPolicySchema = z.enum(['always', 'on-failure', 'never']);
export type RestartPolicy = z.output<typeof restartPolicySchema>;

/** The settings of a stop with every default filled in: all that a node needs to stop an instance. */
export const stopSettingsSchema = z.object({
  command: stopCommandSchema.nullable(),
  signal: stopSignalSchema,
  timeoutMs: z.number(),
  /** How long the process runs on before the stop begins, while proxies learn that it leaves. */
  leaveMs: z.number().default(0),
  to: stopToSchema.default(STOPPING_DEFAULTS.stopTo),
});
export type StopSettings = Readonly<z.output<typeof stopSettingsSchema>>;

interface StopFields {
  readonly stopCommand?: string | undefined;
  readonly stopSignal?: StopSettings['signal'] | undefined;
  readonly stopTimeoutSeconds?: number | undefined;
  readonly stopTo?: StopTo | undefined;
  readonly expose?: Pick<Expose, 'leaveSeconds'> | undefined;
}

/** The stop settings of a configuration. */
export function stopSettingsOf(fields: StopFields): StopSettings {
  const { stopCommand, stopSignal, stopTimeoutSeconds, stopTo, expose } = fields;
  return {
    command: stopCommand ?? null,
    signal: stopSignal ?? STOPPING_DEFAULTS.stopSignal,
    timeoutMs: (stopTimeoutSeconds ?? STOPPING_DEFAULTS.stopTimeoutSeconds) * 1000,
    leaveMs: (expose?.leaveSeconds ?? 0) * 1000,
    to: stopTo ?? STOPPING_DEFAULTS.stopTo,
  };
}

export const DEFAULT_STOP: StopSettings = stopSettingsOf({});

/** Whether the restart policy starts a process again after this end. An end that no daemon saw counts as a failure. */
export function isRestarted(
  policy: RestartPolicy = STOPPING_DEFAULTS.restartPolicy,
  exit: { readonly code: number | null },
): boolean {
  return policy === 'always' || (policy === 'on-failure' && exit.code !== 0);
}
