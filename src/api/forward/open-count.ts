/** Counts open things, such as requests or connections, for a caller who waits until none is open. */
import type { EventEmitter } from 'node:events';
import { Bell } from '../../loop/bell.js';
import type { Clock } from '../../loop/clock.js';

export class OpenCount {
  readonly #noneLeft = new Bell();
  #count = 0;

  /** Counts `one` as open until its event `close`. */
  add(one: Pick<EventEmitter, 'once'>): void {
    this.#count++;
    one.once('close', () => {
      this.#count--;
      if (this.#count === 0) this.#noneLeft.ring();
    });
  }

  /** Resolves when nothing is open, or after `limitMs`. */
  async untilNone(clock: Pick<Clock, 'setTimer'>, limitMs: number): Promise<void> {
    if (this.#count > 0) await this.#noneLeft.wait(undefined, { clock, ms: limitMs });
  }
}
