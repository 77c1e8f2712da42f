/** What a configuration means by leaving fields out that the schema leaves out too. */
import type { Configuration } from '../configuration.js';

export const DEFAULT_MINIMUM = 1;

export const STOPPING_DEFAULTS = {
  stopSignal: 'SIGTERM',
  stopTimeoutSeconds: 10,
  restartPolicy: 'always',
} as const;

/**
 * With the defaults too that the schema leaves out, for people to read. Those stay out of what is stored: one more
 * field would change the hash of every configuration.
 */
export function withEveryDefault(configuration: Configuration): Configuration {
  const {
    stopSignal = STOPPING_DEFAULTS.stopSignal,
    stopTimeoutSeconds = STOPPING_DEFAULTS.stopTimeoutSeconds,
    restartPolicy = STOPPING_DEFAULTS.restartPolicy,
    placement = 'spread',
    surplus = 'keep',
    onDelete = 'keep',
  } = configuration;
  return { ...configuration, placement, surplus, onDelete, stopSignal, stopTimeoutSeconds, restartPolicy };
}
