/**
 * Writes the last uses of keys and sessions: the first use of each at once, further uses at most once a minute. So a
 * kill loses at most the uses of the last minute. The end of a key or session is written as soon as it was seen.
 */
import type { TimerHandle } from '../loop/clock.js';
import type { LastUse } from '../model/access/api-key.js';
import { DroverError, messageOf } from '../model/errors.js';
import type { Ambient } from '../telemetry/ambient.js';
import { RepeatedLog } from '../telemetry/repeated-log.js';
import type { KeyAccess } from './access.js';

const PAUSE_MS = 60_000;

const UNSAID: ReadonlySet<string> = new Set(['DRV_STORE_CLOSED', 'DRV_NOT_LEADER']);

interface LastUsesOptions extends Ambient {
  /** Writes a last use, or the end of an access that has one. Resolves when the use is durable, or when the key or session is gone. */
  readonly write: (access: KeyAccess, use: LastUse) => Promise<void>;
}

export class LastUses {
  readonly #options: LastUsesOptions;
  readonly #log: RepeatedLog;
  readonly #waiting = new Map<KeyAccess, TimerHandle>();
  readonly #writes = new Set<Promise<void>>();
  /** When each access was written last, in monotonic milliseconds. */
  readonly #writtenAt = new WeakMap<KeyAccess, number>();

  constructor(options: LastUsesOptions) {
    this.#options = options;
    this.#log = new RepeatedLog(options.logger, options.clock);
  }

  /** Called at the first use of an access after the last one was written. */
  note(access: KeyAccess): void {
    const { clock } = this.#options;
    const writtenAt = this.#writtenAt.get(access) ?? Number.NEGATIVE_INFINITY;
    const waitMs = Math.max(0, writtenAt + PAUSE_MS - clock.monotonic());
    this.#waiting.set(
      access,
      clock.setTimer(waitMs, () => this.#write(access)),
    );
  }

  /** Called when an access was seen to have ended: written at once. */
  noteEnd(access: KeyAccess): void {
    this.#write(access);
  }

  /** Writes the uses that wait. Resolves when all writes have ended. Later uses are not written. Idempotent. */
  async stop(): Promise<void> {
    for (const access of [...this.#waiting.keys()]) this.#write(access);
    await Promise.all(this.#writes);
  }

  #write(access: KeyAccess): void {
    this.#waiting.get(access)?.cancel();
    this.#waiting.delete(access);
    this.#writtenAt.set(access, this.#options.clock.monotonic());
    const write = this.#options
      .write(access, access.takeUse())
      .catch((error: unknown) => this.#warn(error))
      .finally(() => this.#writes.delete(write));
    this.#writes.add(write);
  }

  #warn(error: unknown): void {
    // Both codes are expected, so nothing is logged. The mirror stops before the API, when the use is on the disk
    // already; or another master leads now.
    if (UNSAID.has(error instanceof DroverError ? error.code : '')) return;
    this.#log.say('write', `the last use of a key or session could not be written: ${messageOf(error)}`);
  }
}
