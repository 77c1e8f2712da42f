/** Bounds the time of foreign code, which may hang and may ignore its signal. */
import { abortable } from './abortable.js';
import type { Clock } from './clock.js';
import type { MaybePromise } from './maybe-promise.js';

interface Deadline {
  readonly limitMs: number;
  readonly clock: Clock;
  /** An abort ends the wait early. */
  readonly signal: AbortSignal;
  /** Makes the error that is thrown when the time is over. */
  expired(): Error;
}

/**
 * Returns the result of `work`. Rejects when the time is over or `signal` aborts, whatever `work` does. Then it aborts
 * the signal given to `work`, and ignores later results and errors of `work`.
 */
export async function withDeadline<T>(
  { limitMs, clock, signal, expired }: Deadline,
  work: (signal: AbortSignal) => MaybePromise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const inner = new AbortController();
  let onTime = (): void => {};
  const late = new Promise<never>((_resolve, reject) => {
    onTime = () => reject(expired());
  });
  const timer = clock.setTimer(limitMs, onTime);
  try {
    return await abortable(Promise.race([work(inner.signal), late]), signal);
  } catch (error) {
    inner.abort(error);
    throw error;
  } finally {
    timer.cancel();
  }
}
