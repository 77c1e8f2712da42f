/**
 * The lease of a master in etcd, constantly renewed. The master's entry, a key with this lease, says that this master is
 * up; the leader key also ends with the lease. An ended lease is replaced by a new one. An entry belongs to one process:
 * it is put only where it is absent or of a former process of this root, and again when it is gone.
 */
import { randomInt } from 'node:crypto';
import { backoffMs } from '../../loop/backoff.js';
import type { Clock } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';
import type { Logger } from '../../telemetry/logger.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { Etcd, TransactionAnswer } from './etcd.js';
import { EtcdError } from './etcd-error.js';
import { encodeJson } from './etcd-record.js';
import { AGAIN_AFTER } from './follow.js';
import { describeOther, isOther, masterOf, type OwnEntry, type StoreKeys } from './leader-key.js';

const LEASE_SECONDS = 3;
const RENEW_EVERY_MS = 1000;
export const CALL_MS = 1000;
/** How many tries come without a growing pause: an etcd that is away for a moment must not cost a term. */
const SOON = 50;
/** How long a leader decides and writes after it sent the last successful renewal. Shorter than the lease. */
const CURRENT_MS = 2000;

/** Before every revision of etcd. */
const NEVER = -1;

export interface LeaseOptions {
  readonly etcd: Etcd;
  readonly keys: StoreKeys;
  readonly own: OwnEntry;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
}

export class Lease {
  readonly #options: LeaseOptions;
  readonly #others: RepeatedLog | undefined;
  readonly #stopping = new AbortController();
  /** The id of the granted lease; undefined: no lease was granted, or it has ended. */
  #id: number | undefined;
  #currentUntil = -Infinity;
  /** The revision of etcd at which the entry was put with this lease. */
  #enteredAt = NEVER;
  /** The revision of the last change of the entry that the stream has shown. */
  #shownAt = 0;
  #onOver: (() => void) | undefined;
  #keeping: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.#others = options.logger && new RepeatedLog(options.logger, options.clock, 'error');
  }

  /** The id of the present lease; undefined: this master has no lease at the moment, or another process its entry. */
  get id(): number | undefined {
    return this.#enteredAt === NEVER ? undefined : this.#id;
  }

  /** True while the lease certainly exists, and will for a while. False while etcd is silent. */
  get isCurrent(): boolean {
    return this.#options.clock.monotonic() < this.#currentUntil;
  }

  /** Sets the only listener, which is called when etcd has ended the lease. */
  onOver(listener: () => void): void {
    this.#onOver = listener;
  }

  /** Called with the revision of each change of the entry. The entry is put again unless the change was this master's. */
  entryChanged(revision: number): void {
    this.#shownAt = revision;
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
    this.#drop();
    if (id !== undefined) await this.#options.etcd.revokeLease(id, CALL_MS).catch(() => undefined);
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { clock, logger, etcd } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      const sentAt = clock.monotonic();
      try {
        if (this.#id === undefined) await this.#grant(sentAt);
        else await this.#renew(this.#id, sentAt);
        if (this.#id !== undefined && this.#enteredAt < this.#shownAt) await this.#enter(this.#id);
        if (failures > 0)
          logger?.info(`etcd ${etcd.name} answers again: the lease of this master is renewed`);
        failures = 0;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (failures === 0)
          logger?.warn(`the lease of this master was not renewed, or its entry not put: ${error.advice}`);
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

  async #grant(sentAt: number): Promise<void> {
    const id = randomInt(1, 2 ** 47);
    await this.#options.etcd.grantLease(id, LEASE_SECONDS, CALL_MS);
    this.#id = id;
    if (!this.#stopping.signal.aborted) this.#currentUntil = sentAt + CURRENT_MS;
  }

  async #renew(id: number, sentAt: number): Promise<void> {
    const seconds = await this.#options.etcd.renewLease(id, CALL_MS);
    if (this.#id !== id) return;
    if (seconds > 0) {
      this.#currentUntil = sentAt + CURRENT_MS;
      return;
    }
    this.#drop();
    this.#onOver?.();
  }

  /** Puts the entry, unless another process has it. */
  async #enter(id: number): Promise<void> {
    const { own } = this.#options;
    let answer = await this.#putEntry(id, 0);
    const [found] = answer.read;
    const entry = masterOf(found?.value);
    if (found !== undefined && !isOther(entry, own)) answer = await this.#putEntry(id, found.modRevision);
    if (answer.isDone && this.#id === id) this.#enteredAt = answer.revision;
    else if (entry !== undefined && isOther(entry, own)) this.#others?.say('other', describeOther(entry));
  }

  #putEntry(lease: number, expectedRevision: number): Promise<TransactionAnswer> {
    const { etcd, keys, own } = this.#options;
    const key = keys.masters + own.nodeId;
    return etcd.transact(
      {
        comparisons: [{ key, field: 'modRevision', is: expectedRevision }],
        changes: [{ do: 'put', key, value: encodeJson(own), lease }],
        otherwiseRead: [key],
      },
      CALL_MS,
    );
  }

  #drop(): void {
    this.#id = undefined;
    this.#currentUntil = -Infinity;
    this.#enteredAt = NEVER;
  }
}
