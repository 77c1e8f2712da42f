/** Puts a question to the masters that a node knows, one after the other. */
import { DroverError } from '../../model/errors.js';
import type { HostPort } from '../../model/host-port.js';
import type { KnownMasters } from './known-masters.js';

/**
 * Asks the masters in turn until one of them answers; a refusal is an answer. After DRV_CHANNEL_CLOSED the next master
 * is asked; any other error ends the search. `isOnly`: there is no other master to ask. Throws the error of the last
 * master.
 */
export async function askMasters<T>(
  masters: Pick<KnownMasters, 'candidates' | 'failed'>,
  signal: AbortSignal,
  question: (at: HostPort, isOnly: boolean) => Promise<T>,
): Promise<T> {
  const candidates = masters.candidates();
  for (const [index, at] of candidates.entries()) {
    try {
      return await question(at, candidates.length === 1);
    } catch (error) {
      signal.throwIfAborted();
      masters.failed(at);
      if (index === candidates.length - 1 || !DroverError.is(error, 'DRV_CHANNEL_CLOSED')) throw error;
    }
  }
  throw new DroverError('DRV_CHANNEL_CLOSED', 'no master is known');
}
