/**
 * Removes the control groups of a root. A killed daemon leaves them for the next daemon, which never comes after a
 * test.
 */
import { pino } from 'pino';
import { openLimits } from '../../../src/runtime/limits/open-limits.js';

/** Removes the groups in which no process lives. */
export async function removeControlGroups(rootId: string): Promise<void> {
  const limits = await openLimits({
    rootId,
    directory: '/',
    environment: {},
    logger: pino({ enabled: false }),
  });
  await limits.removeUnused(() => false);
  await limits.stop();
}
