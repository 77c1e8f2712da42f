/** Waiting for what can be observed, with the patience that a busy machine needs. */
import { vi } from 'vitest';

/**
 * Waits until `look` no longer throws; fails with its last error. The bound is for what never comes: a machine that
 * has other work may need a minute for what it does in a second when it is idle. A test's own bound is longer.
 */
export function until<T>(look: () => T | Promise<T>, timeout = 60_000): Promise<T> {
  return vi.waitFor(look, { timeout, interval: 25 });
}
