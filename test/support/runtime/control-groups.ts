/** Takes away the control groups of a root: a daemon that was killed leaves them for the next one, and here is none. */
import { pino } from 'pino';
import { openLimits } from '../../../src/runtime/limits/open-limits.js';

/** Those that something still lives in stay. */
export async function removeControlGroups(rootId: string): Promise<void> {
  const limits = await openLimits({ rootId, environment: {}, logger: pino({ enabled: false }) });
  await limits.removeUnused(() => false);
  await limits.stop();
}
