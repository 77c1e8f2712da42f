/** Waiting for what can be observed, with the patience that a busy machine needs. */
import { vi } from 'vitest';

/** Waits until `look` no longer throws; fails with its last error. */
export function until<T>(look: () => T | Promise<T>, timeout = 15_000): Promise<T> {
  return vi.waitFor(look, { timeout, interval: 25 });
}

/** For `vi.setConfig` in files that start daemons: a start takes half a second, or five on a machine that has other work. */
export const PATIENCE = { testTimeout: 60_000, hookTimeout: 60_000 };
