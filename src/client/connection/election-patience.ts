/**
 * How long a command waits while several masters have no leader. Most elections take a few seconds. A request refused
 * for this reason was not begun, so it may be repeated.
 */
import { setTimeout as pause } from 'node:timers/promises';

const PATIENCE_MS = 15_000;
const WAITS = `no master leads at this moment: trying again for ${PATIENCE_MS / 1000} s`;

/** The waiting time of one request. Each request has its own. */
export class ElectionPatience {
  readonly #say: ((line: string) => void) | undefined;
  #endsAt: number | undefined;

  /** `say` is called once, before the first wait. Absent: requests do not wait. */
  constructor(say: ((line: string) => void) | undefined) {
    this.#say = say;
  }

  /** Waits before the next try. Returns false when the time is used up. Rejects when `signal` aborts. */
  async again(afterMs: number, signal?: AbortSignal): Promise<boolean> {
    if (this.#say === undefined) return false;
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + PATIENCE_MS;
      this.#say(WAITS);
    }
    if (now + afterMs > this.#endsAt) return false;
    await pause(afterMs, undefined, { ...(signal !== undefined && { signal }) });
    return true;
  }
}
