/**
 * The trace of who did what when, for a person who reads a failing seed. It is off in most runs; a failing seed
 * runs again with it and behaves the same.
 */
import type { Scheduler } from './scheduler.js';

export class Trace {
  readonly lines: string[] = [];
  readonly isOn: boolean;
  readonly #scheduler: Scheduler;

  constructor(scheduler: Scheduler, isOn: boolean) {
    this.#scheduler = scheduler;
    this.isOn = isOn;
  }

  /** `what` is only asked when the trace is on. */
  note(who: string, what: () => string): void {
    if (!this.isOn) return;
    this.lines.push(`${(this.#scheduler.now / 1000).toFixed(4).padStart(10)} ${who.padEnd(7)} ${what()}`);
  }
}
