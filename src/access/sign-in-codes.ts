/**
 * Codes that a browser exchanges for a session, once and within a minute: `drover ui` gives the browser a code
 * instead of a key. Only hashes of codes are kept, in memory. A code ends with the key that made it.
 */
import { randomBytes } from 'node:crypto';
import type { Clock } from '../loop/clock.js';
import { invalidRequest } from '../model/errors.js';
import type { Access } from './access.js';
import { hashToken } from './tokens.js';

const CODE_BYTES = 32;
const LIFE_MS = 60_000;
/** The most codes of one key: at the limit its oldest code ends. */
const MAX_OF_KEY = 20;
/** The most codes of all keys: at the limit the oldest code ends. */
const MAX_CODES = 1000;

interface Kept {
  readonly access: Access;
  /** True while a session is being made of the code. */
  isTaken: boolean;
  /** Forgets the code. Idempotent. */
  drop(): void;
}

export class SignInCodes {
  readonly #clock: Clock;
  /** The codes by their hash, the oldest first. */
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Makes a code of a key; `expiresAt` in Unix milliseconds. Throws DRV_REQUEST_INVALID for a session. */
  make(access: Access): { readonly code: string; readonly expiresAt: number } {
    if (access.session !== null)
      throw invalidRequest('a code is made with a key, not with a session: send the key as the bearer token');
    const ofKey = [...this.#kept.values()].filter((kept) => kept.access === access);
    if (ofKey.length >= MAX_OF_KEY) ofKey[0]?.drop();
    else if (this.#kept.size >= MAX_CODES) this.#kept.values().next().value?.drop();
    const code = randomBytes(CODE_BYTES).toString('base64url');
    this.#keep(hashToken(code), access);
    return { code, expiresAt: this.#clock.now() + LIFE_MS };
  }

  /**
   * Uses a code up for `work`, which gets the access of the key that made the code. When `work` fails, the code is
   * good again for the rest of its minute, and the error is thrown. Returns undefined when there is no such code any
   * more, or it is just being used. Also returns undefined when the key may not be used from this address; the code
   * then stays.
   */
  async take<T>(
    code: string,
    address: string,
    work: (access: Access) => Promise<T>,
  ): Promise<{ readonly made: T } | undefined> {
    const kept = this.#kept.get(hashToken(code));
    if (kept?.isTaken !== false || !kept.access.isFrom(address)) return undefined;
    // No other caller may use the code meanwhile.
    kept.isTaken = true;
    try {
      const made = await work(kept.access);
      kept.drop();
      return { made };
    } catch (error) {
      kept.isTaken = false;
      throw error;
    }
  }

  /** Forgets all codes. */
  close(): void {
    for (const kept of [...this.#kept.values()]) kept.drop();
  }

  #keep(hash: string, access: Access): void {
    let unsubscribe: (() => void) | undefined;
    const timer = this.#clock.setTimer(LIFE_MS, () => drop());
    const drop = (): void => {
      if (!this.#kept.delete(hash)) return;
      timer.cancel();
      unsubscribe?.();
    };
    this.#kept.set(hash, { access, isTaken: false, drop });
    unsubscribe = access.onEnded(drop);
  }
}
