/** Counts open things, such as requests or connections, for a caller who waits until none is open. */
import type { EventEmitter } from 'node:events';
import type { Clock } from '../../loop/clock.js';

export class OpenCount {
  readonly #waiting = new Set<() => void>();
  #count = 0;

  /** Counts `one` as open until its event `close`. */
  add(one: Pick<EventEmitter, 'once'>): void {
    this.#count++;
    one.once('close', () => {
      this.#count--;
      if (this.#count === 0) for (const end of this.#waiting) end();
    });
  }

  /** Resolves when nothing is open, or after `limitMs`. */
  async untilNone(clock: Pick<Clock, 'setTimer'>, limitMs: number): Promise<void> {
    if (this.#count === 0) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        this.#waiting.delete(end);
        resolve();
      };
      const timer = clock.setTimer(limitMs, end);
      this.#waiting.add(end);
    });
  }
}
