/** Wakes everything that waits for a change. The bell carries no data: each waiter looks at the state itself. */
import type { Clock } from './clock.js';

/** The longest time of a wait. */
interface WaitLimit {
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly ms: number;
}

export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next `ring`, when `signal` aborts, or after `limit`. Never rejects. */
  wait(signal?: AbortSignal, limit?: WaitLimit): Promise<void> {
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal?.removeEventListener('abort', wake);
        timer?.cancel();
        resolve();
      };
      const timer = limit?.clock.setTimer(limit.ms, wake);
      this.#waiting.add(wake);
      signal?.addEventListener('abort', wake);
    });
  }
}
