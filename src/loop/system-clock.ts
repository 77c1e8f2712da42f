/** The real time. Only the composition roots make one; everything else receives a `Clock`. */
import type { Clock, TimerHandle } from './clock.js';

/** The longest delay that Node keeps; it turns a longer delay into 1 ms. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  monotonic(): number {
    return performance.now();
  }

  setTimer(delayMs: number, callback: () => void): TimerHandle {
    const dueAt = performance.now() + delayMs;
    let timeout: NodeJS.Timeout;
    // Node drops fractions and may fire a little early; this clock never fires before its time.
    const check = (): void => {
      const leftMs = dueAt - performance.now();
      if (leftMs > 0) wait(leftMs);
      else callback();
    };
    const wait = (ms: number): void => {
      timeout = setTimeout(check, Math.min(Math.ceil(ms), LONGEST_TIMEOUT_MS));
      timeout.unref();
    };
    wait(delayMs);
    return { cancel: () => clearTimeout(timeout) };
  }

  nextTurn(callback: () => void): void {
    setImmediate(callback);
  }
}
