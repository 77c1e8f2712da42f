/**
 * The lease of a master in etcd, constantly renewed. A key with this lease says that this master is up; the leader key
 * also ends with the lease. An ended lease is replaced by a new one.
 */
import { randomInt } from 'node:crypto';
import { backoffMs } from '../../loop/backoff.js';
import type { Clock } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Etcd } from './etcd.js';
import { EtcdError } from './etcd-error.js';
import { encodeJson } from './etcd-record.js';
import { AGAIN_AFTER } from './follow.js';
import type { MasterEntry, StoreKeys } from './leader-key.js';

const LEASE_SECONDS = 3;
const RENEW_EVERY_MS = 1000;
export const CALL_MS = 1000;
/** How many tries come without a growing pause: an etcd that is away for a moment must not cost a term. */
const SOON = 50;
/** How long a leader decides and writes after it sent the last successful renewal. Shorter than the lease. */
const CURRENT_MS = 2000;

interface LeaseOptions {
  readonly etcd: Etcd;
  readonly keys: StoreKeys;
  readonly own: MasterEntry;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #stopping = new AbortController();
  /** The id of the lease; undefined: no lease was granted, or it has ended. */
  #id: number | undefined;
  #currentUntil = -Infinity;
  #onOver: (() => void) | undefined;
  #keeping: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** The id of the present lease; undefined: this master has no lease at the moment. */
  get id(): number | undefined {
    return this.#id;
  }

  /** True while the lease certainly exists, and will for a while. False while etcd is silent. */
  get isCurrent(): boolean {
    return this.#options.clock.monotonic() < this.#currentUntil;
  }

  /** Sets the only listener, which is called when etcd has ended the lease. */
  onOver(listener: () => void): void {
    this.#onOver = listener;
  }

  start(): void {
    this.#keeping ??= this.#keep(this.#stopping.signal);
  }

  /** Ends the lease and thereby its keys. Idempotent; does not throw. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#keeping;
    await this.giveUp();
  }

  /**
   * Ends the lease; a new lease soon replaces it. When etcd does not answer, the lease ends by itself. Does not throw.
   */
  async giveUp(): Promise<void> {
    const id = this.#id;
    this.#id = undefined;
    this.#currentUntil = -Infinity;
    if (id !== undefined) await this.#options.etcd.revokeLease(id, CALL_MS).catch(() => undefined);
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { clock, logger, etcd } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const sentAt = clock.monotonic();
      try {
        if (this.#id === undefined) await this.#grant(sentAt, signal);
        else await this.#renew(this.#id, sentAt);
        if (failures > 0)
          logger?.info(`etcd ${etcd.name} answers again: the lease of this master is renewed`);
        failures = 0;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (failures === 0) logger?.warn(`the lease of this master was not renewed: ${error.message}`);
        failures++;
      }
      const elapsedMs = clock.monotonic() - sentAt;
      const isMissing = failures > 0 || this.#id === undefined;
      const waitMs = isMissing
        ? backoffMs(Math.max(0, failures - SOON), AGAIN_AFTER)
        : Math.max(RENEW_EVERY_MS - elapsedMs, 0);
      await pause(clock, waitMs, signal);
    }
  }

  async #grant(sentAt: number, signal: AbortSignal): Promise<void> {
    const { etcd, keys, own } = this.#options;
    const id = randomInt(1, 2 ** 47);
    await etcd.grantLease(id, LEASE_SECONDS, CALL_MS);
    const value = encodeJson(own);
    await etcd.transact(
      {
        comparisons: [],
        changes: [{ do: 'put', key: keys.masters + own.nodeId, value, lease: id }],
        otherwiseRead: [],
      },
      CALL_MS,
    );
    this.#id = id;
    if (!signal.aborted) this.#currentUntil = sentAt + CURRENT_MS;
  }

  async #renew(id: number, sentAt: number): Promise<void> {
    const seconds = await this.#options.etcd.renewLease(id, CALL_MS);
    if (this.#id !== id) return;
    if (seconds > 0) {
      this.#currentUntil = sentAt + CURRENT_MS;
      return;
    }
    this.#id = undefined;
    this.#currentUntil = -Infinity;
    this.#onOver?.();
  }
}
