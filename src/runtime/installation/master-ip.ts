/**
 * Finds the IP address behind the master's name, for %MASTER_IP%. An install waits for the name server for a second
 * at most.
 */
import { lookup } from 'node:dns/promises';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import type { MaybePromise } from '../../loop/maybe-promise.js';

const LIMIT_MS = 1000;

export class MasterIp {
  readonly #clock: Clock;
  readonly #lookup: (name: string) => Promise<string>;
  readonly #known = new Map<string, string>();

  /** `ask` looks a name up; default: the system. */
  constructor(clock: Clock, ask = async (name: string) => (await lookup(name)).address) {
    this.#clock = clock;
    this.#lookup = ask;
  }

  /**
   * Looks the address up once, for a second at most. After a failure the next call looks again. Rejects only on abort.
   */
  learn(name: string, signal: AbortSignal): MaybePromise<void> {
    if (!this.#known.has(name)) return this.#ask(name, signal);
  }

  async #ask(name: string, signal: AbortSignal): Promise<void> {
    const expired = (): Error => new Error(`no address of ${name} within ${LIMIT_MS} ms`);
    const limits = { limitMs: LIMIT_MS, clock: this.#clock, signal, expired };
    try {
      this.#known.set(name, await withDeadline(limits, () => this.#lookup(name)));
    } catch {
      signal.throwIfAborted();
    }
  }

  /** The address of a name; an unknown name is returned unchanged. */
  of(name: string): string {
    return this.#known.get(name) ?? name;
  }
}
