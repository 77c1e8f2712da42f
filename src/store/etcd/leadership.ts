/**
 * Who writes the store: the one process that holds the leader key. It takes the key when nobody holds it, and keeps it
 * by a lease. Others wait. The key's create revision is the term's number, which every write compares (TermWriter).
 *
 *   waiting --key is free, taken--> leading --etcd silent--> in doubt --renewed--> leading
 *                                     |                         |
 *                                     +------- the key, or the store, is another's -------> lost (for good)
 */
import { randomInt, randomUUID } from 'node:crypto';
import type { Clock } from '../../loop/clock.js';
import { pause } from '../../loop/pause.js';
import { DroverError } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { Comparison, Etcd } from './etcd.js';
import { EtcdError } from './etcd-error.js';
import { summaryOf } from './etcd-record.js';
import { encodeHolder, holderOf, type LeaderHolder, type StoreKeys } from './leader-key.js';

const LEASE_SECONDS = 3;
const RENEW_EVERY_MS = 1000;
const CALL_MS = 1000;
const AGAIN_AFTER_MS = 100;
/** How long after the sending of the last renewal that succeeded a leader decides and writes. Shorter than the lease. */
const CURRENT_MS = 2000;

export interface LeadershipOptions {
  readonly etcd: Etcd;
  readonly keys: StoreKeys;
  readonly nodeId: string;
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** Called at most once: another master writes the store. The process must end. */
  readonly onLost?: ((error: DroverError) => void) | undefined;
}

interface Term {
  /** The create revision of the leader key. */
  readonly epoch: number;
  readonly lease: number;
}

/** What an attempt to take the key found. */
type Claim =
  | { readonly isTaken: true }
  | { readonly isTaken: false; readonly leader: LeaderHolder | undefined };

export class Leadership {
  /** Names this process in the leader key and in what it writes. */
  readonly session = randomUUID();
  readonly #options: LeadershipOptions;
  readonly #stopping = new AbortController();
  #term: Term | undefined;
  #currentUntil = -Infinity;
  #loss: DroverError | undefined;
  #renewing: Promise<void> | undefined;

  constructor(options: LeadershipOptions) {
    this.#options = options;
  }

  /**
   * The number of the term that this process leads. Throws DRV_STORE_FENCED after the loss of the store, and
   * DRV_STORE_CLOSED before and after all terms.
   */
  get epoch(): number {
    if (this.#loss !== undefined) throw this.#loss;
    if (this.#term === undefined) throw new DroverError('DRV_STORE_CLOSED', 'this process leads no term');
    return this.#term.epoch;
  }

  /** Whether this process may decide and write now. False while etcd is silent, and for good after the loss. */
  get isCurrent(): boolean {
    return this.#loss === undefined && this.#options.clock.monotonic() < this.#currentUntil;
  }

  /**
   * Takes the key if nobody holds it, and keeps it from then on. Resolves with the holder where it is another's, or
   * not Drover's (undefined). Throws EtcdError.
   */
  async take(): Promise<Claim> {
    const claim = await this.#claim([]);
    if (claim.isTaken) this.#renewing ??= this.#renewAlways(this.#stopping.signal);
    return claim;
  }

  /** A write was refused because the key is gone: the next renewal finds out why. */
  doubt(): void {
    this.#currentUntil = -Infinity;
  }

  /** Another one writes the store: returns the error for this and all later writes. */
  lose(why: string): DroverError {
    if (this.#loss !== undefined) return this.#loss;
    this.#stopping.abort();
    const { etcd, keys } = this.#options;
    this.#loss = new DroverError(
      'DRV_STORE_FENCED',
      `${why} (etcd ${etcd.name}, ${keys.prefix}); this one writes nothing any more`,
    );
    this.#options.onLost?.(this.#loss);
    return this.#loss;
  }

  /** Gives the key up, so that another master goes on at once. Idempotent; does not throw. */
  async resign(): Promise<void> {
    this.#stopping.abort();
    await this.#renewing;
    const term = this.#term;
    this.#term = undefined;
    this.#currentUntil = -Infinity;
    if (term === undefined || this.#loss !== undefined) return;
    // Without an answer the lease ends by itself.
    await this.#options.etcd.revokeLease(term.lease, { deadlineMs: CALL_MS }).catch(() => undefined);
  }

  async #claim(guards: readonly Comparison[]): Promise<Claim> {
    const { etcd, keys, nodeId, clock } = this.#options;
    const lease = randomInt(1, 2 ** 47);
    const holder = { nodeId, session: this.session, lease };
    const sentAt = clock.monotonic();
    await etcd.grantLease(lease, LEASE_SECONDS, { deadlineMs: CALL_MS });
    const { isDone, revision, read } = await etcd.transact(
      {
        comparisons: [{ key: keys.leader, field: 'createRevision', is: 0 }, ...guards],
        changes: [{ do: 'put', key: keys.leader, value: encodeHolder(holder), lease }],
        otherwiseRead: [keys.leader],
      },
      { deadlineMs: CALL_MS },
    );
    if (isDone) return this.#lead({ epoch: revision, lease }, sentAt);
    void etcd.revokeLease(lease, { deadlineMs: CALL_MS }).catch(() => undefined);
    const [present] = read;
    const leader = holderOf(present);
    // An earlier attempt without an answer was the one that took the key.
    if (present !== undefined && leader?.session === this.session)
      return this.#lead({ epoch: present.createRevision, lease: leader.lease }, -Infinity);
    return { isTaken: false, leader };
  }

  #lead(term: Term, sentAt: number): Claim {
    this.#term = term;
    this.#currentUntil = sentAt + CURRENT_MS;
    return { isTaken: true };
  }

  async #renewAlways(signal: AbortSignal): Promise<void> {
    const { clock, logger, etcd } = this.#options;
    let isSilent = false;
    while (!signal.aborted) {
      const sentAt = clock.monotonic();
      try {
        await this.#renew(sentAt);
        if (isSilent) logger?.info(`etcd ${etcd.name} answers again: the lease of this master is renewed`);
        isSilent = false;
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        if (!isSilent) logger?.warn(`the lease of this master was not renewed: ${error.message}`);
        isSilent = true;
      }
      const elapsedMs = clock.monotonic() - sentAt;
      await pause(clock, isSilent ? AGAIN_AFTER_MS : Math.max(RENEW_EVERY_MS - elapsedMs, 0), signal);
    }
  }

  async #renew(sentAt: number): Promise<void> {
    const { etcd } = this.#options;
    const seconds =
      this.#term === undefined ? 0 : await etcd.renewLease(this.#term.lease, { deadlineMs: CALL_MS });
    if (seconds > 0) this.#currentUntil = sentAt + CURRENT_MS;
    else await this.#takeAgain();
  }

  /** The lease is over, and the key with it. Where nobody has written since, this process goes on in a new term. */
  async #takeAgain(): Promise<void> {
    const { etcd, keys, logger } = this.#options;
    this.#currentUntil = -Infinity;
    const [present] = (await etcd.range({ key: keys.leader }, { deadlineMs: CALL_MS })).entries;
    const [summary] = (await etcd.range({ key: keys.summary }, { deadlineMs: CALL_MS })).entries;
    const leader = holderOf(present);
    if (leader !== undefined && leader.session !== this.session) {
      this.lose(`master ${leader.nodeId} leads now`);
      return;
    }
    // Also one that a newer version has written, which cannot be read here.
    if (summary === undefined || summaryOf(summary.value)?.session !== this.session) {
      this.lose('the state is not as this master has left it: another one has written');
      return;
    }
    const claim = await this.#claim([{ key: keys.summary, field: 'modRevision', is: summary.modRevision }]);
    if (claim.isTaken)
      logger?.warn('the lease of this master was over; nobody has taken its place: it goes on');
  }
}
