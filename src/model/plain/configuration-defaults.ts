/** The defaults of fields that the schema leaves absent. */
import type { Configuration } from '../configuration.js';

export const DEFAULT_MINIMUM = 1;

export const STOPPING_DEFAULTS = {
  stopSignal: 'SIGTERM',
  stopTimeoutSeconds: 10,
  stopTo: 'main',
  restartPolicy: 'always',
} as const;

/**
 * The content with all defaults filled in, for people to read. The stored content lacks those that the schema
 * leaves out: one more field would change the hash of every configuration.
 */
export function withEveryDefault(configuration: Configuration): Configuration {
  const {
    stopSignal = STOPPING_DEFAULTS.stopSignal,
    stopTimeoutSeconds = STOPPING_DEFAULTS.stopTimeoutSeconds,
    stopTo = STOPPING_DEFAULTS.stopTo,
    restartPolicy = STOPPING_DEFAULTS.restartPolicy,
    placement = 'spread',
    surplus = 'keep',
    onDelete = 'keep',
  } = configuration;
  return {
    ...configuration,
    placement,
    surplus,
    onDelete,
    stopSignal,
    stopTimeoutSeconds,
    stopTo,
    restartPolicy,
  };
}
