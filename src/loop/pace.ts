/** Divides long work into short turns of the event loop, so that the process answers others meanwhile. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** How long one turn of the work may last. */
const TURN_MS = 10;

/** Between two parts of the work: `if (pace.isOver) await pace.rest();`. */
export class Pace {
  #since = performance.now();

  /** True when this turn has lasted long enough. Cheap, so it may be asked for each of many small parts. */
  get isOver(): boolean {
    return performance.now() - this.#since >= TURN_MS;
  }

  /** Resolves in a later turn, in which the work goes on. */
  async rest(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
