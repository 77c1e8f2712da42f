/** Time as a dependency: everything that waits or measures takes a Clock, so that tests run on a virtual one. */

export interface TimerHandle {
  cancel(): void;
}

export interface Clock {
  /** Wall clock, Unix milliseconds. May jump; only for display and records. */
  now(): number;
  /** Milliseconds that only grow and do not jump with the wall clock. Every wait and time-out is measured in them. */
  monotonic(): number;
  /** Calls `callback` once after `delayMs` (0 or more). A pending timer does not keep the process alive. */
  setTimer(delayMs: number, callback: () => void): TimerHandle;
  /** Calls `callback` in a later turn of the event loop, after everything else that is ready. */
  nextTurn(callback: () => void): void;
}
