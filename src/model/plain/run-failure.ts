/** The failure of a program that has ended for good, in one or two words. The page loads this file too. */
import type { InstanceInfo } from '../instance.js';

type Ended = Pick<InstanceInfo, 'state' | 'reason' | 'exitCode' | 'exitSignal'>;

/** Undefined: it runs, was stopped, or ended well. */
export function runFailure({
  state,
  reason,
  exitCode,
  exitSignal,
}: Ended): 'Failed' | 'Timed out' | undefined {
  if (state !== 'STOPPED') return undefined;
  if (reason === 'timed-out') return 'Timed out';
  const isBad = exitSignal !== null || (exitCode ?? 0) !== 0;
  return reason === 'exited' && isBad ? 'Failed' : undefined;
}
