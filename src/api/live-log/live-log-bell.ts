/**
 * Wakes everything that waits for a change of a live log. The bell carries no data: each waiter reads the log itself.
 */
import type { Clock } from '../../loop/clock.js';

export class Bell {
  readonly #waiting = new Set<() => void>();

  ring(): void {
    for (const wake of [...this.#waiting]) wake();
  }

  /** Resolves at the next `ring`, when `signal` aborts, or after `limit`. Never rejects. */
  wait(signal: AbortSignal, limit?: { readonly clock: Clock; readonly ms: number }): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        timer?.cancel();
        resolve();
      };
      const timer = limit?.clock.setTimer(limit.ms, wake);
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
