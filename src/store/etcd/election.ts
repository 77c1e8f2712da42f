/**
 * Follows the shared state of several masters in etcd, becomes a candidate for leader when `campaign` is called, and
 * holds the term that it wins. Only the stream of changes counts: a master leads when it reads its own name in the
 * leader key. All earlier writes come earlier in the stream, so the master then has the whole state.
 *
 *   following --key is free, campaign--> claiming --own name read--> leading --lease over, handed over--> following
 */
import { randomUUID } from 'node:crypto';
import { pause } from '../../loop/pause.js';
import { DroverError, storeClosed } from '../../model/errors.js';
import { RepeatedLog } from '../../telemetry/repeated-log.js';
import type { KeyEvent } from './etcd.js';
import { EtcdError } from './etcd-error.js';
import { encodeJson } from './etcd-record.js';
import type { EtcdStore } from './etcd-store.js';
import { followRange, type RangeNews } from './follow.js';
import { holderOf, type LeaderHolder } from './leader-key.js';
import { CALL_MS, type Lease, type LeaseOptions } from './lease.js';
import { ElectedTerm } from './term.js';
import { TermWriter } from './term-writer.js';

const AGAIN_AFTER_MS = 100;

interface ElectionOptions extends LeaseOptions {
  readonly lease: Lease;
  readonly store: EtcdStore;
  /** Called with each failure of etcd. Throws when waiting is of no use. */
  readonly onFailure: (error: EtcdError) => void;
  /** Called with a line for the operator when another master leads. Default: the line is logged. */
  readonly onWait?: ((line: string) => void) | undefined;
}

/** The state of the leader key while a master holds it. */
interface Held {
  /** The number of the holder's term. */
  readonly epoch: number;
  /** The leader key's create revision in this etcd. */
  readonly createRevision: number;
  /** The holder; undefined: something other than Drover wrote the key. */
  readonly holder: LeaderHolder | undefined;
}

interface Campaign {
  readonly win: (writer: TermWriter) => void;
  readonly lose: (error: DroverError) => void;
}

export class Election {
  readonly #options: ElectionOptions;
  readonly #refusals: RepeatedLog | undefined;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<() => void>();
  /** The name of this master's next term in the leader key. */
  #session = randomUUID();
  #held: Held | undefined;
  #latest = 0;
  #campaign: Campaign | undefined;
  /** The term that this master has won. The term's first write makes this master lead, and sets `#term`. */
  #won: ElectedTerm | undefined;
  #term: ElectedTerm | undefined;
  #claiming: Promise<void> | undefined;
  #running: Promise<void> | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#refusals = options.logger && new RepeatedLog(options.logger, options.clock, 'error');
    options.lease.onOver(() => this.#won?.end('its lease is over'));
  }

  /** The holder of the leader key; undefined: nobody holds it. While etcd is silent, the last known holder. */
  get held(): Held | undefined {
    return this.#held;
  }

  /** The latest term that the stream has shown; 0: no term yet. */
  get latest(): number {
    return this.#latest;
  }

  /** False while etcd does not answer: `held` and `latest` may then be out of date. */
  get isInTouch(): boolean {
    return this.#options.lease.isCurrent;
  }

  /** The term in which this master leads now. */
  get term(): ElectedTerm | undefined {
    return this.#term;
  }

  /** Calls `listener` when `held` or `term` has changed. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Follows etcd from a snapshot that the store has taken. When following fails before `stop`, `onEnd` gets the error.
   */
  start(snapshot: RangeNews & { readonly kind: 'snapshot' }, onEnd: (error: unknown) => void): void {
    this.#options.lease.start();
    this.#note(snapshot);
    this.#running = this.#run(snapshot.revision).catch((error: unknown) => {
      this.#campaign?.lose(closed());
      onEnd(error);
    });
  }

  /**
   * Makes this master a candidate until it leads, and resolves with the writer of its term. Only one campaign at a time, after all work of the last term has
   * ended. Throws DRV_STORE_CLOSED when the election stops.
   */
  campaign(): Promise<TermWriter> {
    return new Promise((resolve, reject) => {
      if (this.#stopping.signal.aborted) throw closed();
      this.#campaign = { win: resolve, lose: reject };
      this.#claimIfFree();
    });
  }

  /** Gives up the term, so that another master leads at once, and ends the candidacy. Idempotent; does not throw. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#campaign?.lose(closed());
    this.#campaign = undefined;
    this.#won?.end('it has handed over');
    await this.#running;
    await this.#claiming;
    await this.#options.lease.stop();
  }

  async #run(from: number): Promise<void> {
    let revision = from;
    for (;;) {
      const term = await this.#follow(revision);
      if (term === undefined) return;
      revision = await this.#lead(term);
    }
  }

  /** Follows until this master reads its own name in the leader key; undefined: the election stops. */
  async #follow(from: number): Promise<ElectedTerm | undefined> {
    const { etcd, keys, clock, onFailure, store, lease } = this.#options;
    const { signal } = this.#stopping;
    const options = { etcd, prefix: keys.prefix, clock, signal, onFailure };
    for await (const news of followRange(options, from)) {
      store.take(news);
      this.#note(news);
      const { holder } = this.#held ?? {};
      if (this.#held !== undefined && holder?.session === this.#session && holder.lease === lease.id)
        return new ElectedTerm(this.#held, holder, lease);
      this.#claimIfFree();
    }
    return undefined;
  }

  /** Leads until the term ends. Resolves with the etcd revision up to which the store has all writes. */
  async #lead(term: ElectedTerm): Promise<number> {
    const { store, lease, etcd, keys, logger } = this.#options;
    const writer = new TermWriter({ etcd, keys, term, summaryRevision: store.etcdRevision });
    this.#won = term;
    if (this.#stopping.signal.aborted) term.end('it has handed over');
    await this.#begin(term, writer);
    if (!term.signal.aborted) {
      store.lead(writer);
      this.#term = term;
      logger?.info({ epoch: term.epoch }, `this master leads the term ${term.epoch}`);
      this.#tell();
      this.#campaign?.win(writer);
      this.#campaign = undefined;
      await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }));
      this.#term = undefined;
      logger?.warn({ epoch: term.epoch }, term.end('').message);
    }
    this.#won = undefined;
    this.#held = undefined;
    this.#session = randomUUID();
    this.#tell();
    await store.leave();
    await lease.giveUp();
    return store.etcdRevision;
  }

  /** Makes the term's first write, which marks the state as belonging to this term. */
  async #begin(term: ElectedTerm, writer: TermWriter): Promise<void> {
    const { store, clock, onFailure } = this.#options;
    const write = { number: writer.nextNumber(), changes: [], ...store.size };
    while (!term.signal.aborted) {
      try {
        await writer.commit(write);
        return;
      } catch (error) {
        if (DroverError.is(error, 'DRV_NOT_LEADER')) return;
        if (!(error instanceof EtcdError)) throw error;
        onFailure(error);
      }
      await pause(clock, AGAIN_AFTER_MS, term.signal);
    }
  }

  #note(news: RangeNews): void {
    const { keys } = this.#options;
    const entries: readonly Pick<KeyEvent, 'key' | 'value' | 'createRevision'>[] =
      news.kind === 'snapshot' ? news.entries : news.events;
    const last = entries.findLast(({ key }) => key === keys.leader);
    if (last === undefined && news.kind === 'events') return;
    const isHeld = last?.value !== undefined;
    const before = this.#held?.epoch;
    this.#held = isHeld ? this.#heldBy(last) : undefined;
    if (this.#held?.epoch === before) return;
    if (this.#held !== undefined) {
      this.#latest = this.#held.epoch;
      this.#sayWhoLeads(this.#held.holder);
    }
    this.#tell();
  }

  #heldBy(key: Pick<KeyEvent, 'value' | 'createRevision'>): Held {
    const { createRevision } = key;
    return { epoch: this.#options.store.epochBase + createRevision, createRevision, holder: holderOf(key) };
  }

  #sayWhoLeads(holder: LeaderHolder | undefined): void {
    const { onWait, logger, keys, own } = this.#options;
    if (holder?.session === this.#session) return;
    const line = `this master follows the state under ${keys.prefix}: ${describeLeader(holder, own.nodeId, keys.leader)}`;
    (onWait ?? ((said) => logger?.info(said)))(line);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }

  #claimIfFree(): void {
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = undefined;
    });
  }

  /** Tries to get the leader key until the stream shows a holder. */
  async #claim(): Promise<void> {
    const { clock, lease, logger } = this.#options;
    const { signal } = this.#stopping;
    while (this.#campaign !== undefined && this.#held === undefined && !signal.aborted) {
      try {
        if (lease.id !== undefined && lease.isCurrent) await this.#ask(lease.id);
      } catch (error) {
        if (!(error instanceof EtcdError)) throw error;
        const line = `the leader key could not be asked for: ${error.advice}`;
        // A refusal lasts, and then no master leads. The renewal of the lease reports a missing answer.
        if (error.isRefusal) this.#refusals?.say(line, line);
        else logger?.debug(line);
      }
      if (this.#held === undefined) await pause(clock, AGAIN_AFTER_MS, signal);
    }
  }

  async #ask(lease: number): Promise<void> {
    const { etcd, keys, own, clock } = this.#options;
    const value = encodeJson({ ...own, session: this.#session, lease, since: clock.now() });
    await etcd.transact(
      {
        comparisons: [{ key: keys.leader, field: 'createRevision', is: 0 }],
        changes: [{ do: 'put', key: keys.leader, value, lease }],
        otherwiseRead: [],
      },
      CALL_MS,
    );
  }
}

function describeLeader(holder: LeaderHolder | undefined, nodeId: string, key: string): string {
  if (holder === undefined)
    return `its leader key is held by something else than Drover; remove it (etcdctl del ${key})`;
  return holder.nodeId === nodeId
    ? `another process of node ${nodeId} leads, or has ended a moment ago`
    : `master ${holder.nodeId} leads`;
}

/** The error for a caller that waits for etcd or for the leadership when this master stops. */
export function closed(): DroverError {
  return storeClosed('ended while it waited for its state on etcd; instances that run here go on');
}
