/**
 * etcd as several masters find it: revisions and their history until it is compacted, transactions, leases that end by
 * its own clock, and a quota. It is one state; how calls reach it, or do not, is the affair of `etcd-client.ts`.
 */
import type {
  KeyEvent,
  KeyValue,
  RangeAnswer,
  RangeRequest,
  TransactionAnswer,
  TransactionRequest,
} from '../../../src/store/etcd/etcd.js';
import { CompactedError, EtcdError } from '../../../src/store/etcd/etcd-error.js';
import type { Random } from '../random.js';
import type { Scheduler } from '../scheduler.js';

/** etcd looks for leases that are over twice a second. */
const LEASE_LOOK_MS = 500;
/** Operations of one transaction that etcd takes by default. */
const MOST_OPERATIONS = 128;
const NOT_FOUND = 5;
const INVALID = 3;
const RESOURCE_EXHAUSTED = 8;
const OUT_OF_RANGE = 11;
const UNAVAILABLE = 14;

interface Lease {
  readonly seconds: number;
  readonly keys: Set<string>;
  stopTimer: () => void;
}

interface Stored extends KeyValue {
  readonly lease: number | undefined;
}

/** The events of one revision, in order. */
export interface Revision {
  readonly revision: number;
  readonly events: readonly KeyEvent[];
}

export class SimulatedEtcd {
  /** It takes no puts: its quota is used up. */
  isFull = false;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #entries = new Map<string, Stored>();
  readonly #leases = new Map<number, Lease>();
  readonly #listeners = new Set<(revision: Revision) => void>();
  readonly #onUp: (() => void)[] = [];
  /** The keys at the revision of the last compaction. */
  #base = new Map<string, KeyValue>();
  /** From that revision on: one of each number. */
  #history: Revision[] = [];
  #revision = 1;
  #compacted = 0;
  #isUp = true;

  constructor(scheduler: Scheduler, random: Random) {
    this.#scheduler = scheduler;
    this.#random = random;
  }

  get revision(): number {
    return this.#revision;
  }

  /** What was before this revision is forgotten. */
  get compacted(): number {
    return this.#compacted;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  value(key: string): Buffer | undefined {
    return this.#entries.get(key)?.value;
  }

  /** All of a prefix, in no order. */
  *entriesOf(prefix: string): Generator<KeyValue> {
    for (const entry of this.#entries.values()) if (entry.key.startsWith(prefix)) yield entry;
  }

  /** Called with each revision, when all of it stands. Returns how to end that. */
  onRevision(listener: (revision: Revision) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Called when it has a leader again. */
  onUp(listener: () => void): void {
    this.#onUp.push(listener);
  }

  /** Its members have lost each other, or are down. What it had stays; nobody is answered. */
  goDown(): void {
    this.#isUp = false;
    for (const { stopTimer } of this.#leases.values()) stopTimer();
  }

  /** A new leader of etcd gives every lease its whole time again. */
  goUp(): void {
    if (this.#isUp) return;
    this.#isUp = true;
    for (const id of this.#leases.keys()) this.#prolong(id);
    for (const listener of this.#onUp) listener();
  }

  range({ key, end, limit = Number.POSITIVE_INFINITY, revision }: RangeRequest): RangeAnswer {
    this.#checkUp();
    if (revision !== undefined && revision < this.#compacted)
      throw new EtcdError('etcdserver: mvcc: required revision has been compacted', OUT_OF_RANGE);
    const isOld = revision !== undefined && revision < this.#revision;
    const found = [...(isOld ? this.#at(revision) : this.#entries).values()]
      .filter((entry) => (end === undefined ? entry.key === key : entry.key >= key && entry.key < end))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return { entries: found.slice(0, limit), hasMore: found.length > limit, revision: this.#revision };
  }

  /** Whether a transaction with these comparisons would take effect now. */
  holds(comparisons: TransactionRequest['comparisons']): boolean {
    return comparisons.every(({ key, field, is }) => (this.#entries.get(key)?.[field] ?? 0) === is);
  }

  transact({ comparisons, changes, otherwiseRead }: TransactionRequest): TransactionAnswer {
    this.#checkUp();
    if (changes.length > MOST_OPERATIONS)
      throw new EtcdError('etcdserver: too many operations in txn request', INVALID);
    if (changes.some((change) => change.do === 'put')) this.#checkQuota();
    const isDone = this.holds(comparisons);
    if (!isDone) {
      const read = otherwiseRead.flatMap((key) => this.#entries.get(key) ?? []);
      return { isDone, revision: this.#revision, read };
    }
    for (const change of changes)
      if (change.do === 'put' && change.lease !== undefined && !this.#leases.has(change.lease))
        throw new EtcdError('etcdserver: requested lease not found', NOT_FOUND);
    this.#commit(changes);
    return { isDone, revision: this.#revision, read: [] };
  }

  grant(id: number, seconds: number): void {
    this.#checkUp();
    this.#checkQuota();
    this.#leases.set(id, { seconds, keys: new Set(), stopTimer: () => undefined });
    this.#prolong(id);
  }

  /** The seconds of the lease; 0: there is none. */
  renew(id: number): number {
    this.#checkUp();
    const lease = this.#leases.get(id);
    if (lease === undefined) return 0;
    this.#prolong(id);
    return lease.seconds;
  }

  revoke(id: number): void {
    this.#checkUp();
    if (!this.#leases.has(id)) throw new EtcdError('etcdserver: requested lease not found', NOT_FOUND);
    this.#end(id);
  }

  compact(revision: number): void {
    this.#checkUp();
    if (revision <= this.#compacted || revision > this.#revision)
      throw new EtcdError('etcdserver: mvcc: required revision has been compacted', OUT_OF_RANGE);
    this.#base = this.#at(revision);
    this.#history = this.#from(revision);
    this.#compacted = revision;
  }

  /** The revisions from `revision` on that change a range. Throws CompactedError when they are not all known. */
  since(revision: number, { key, end }: { readonly key: string; readonly end: string }): Revision[] {
    if (revision < this.#compacted)
      throw new CompactedError(`etcd has compacted up to revision ${this.#compacted}`);
    return this.#from(revision)
      .map((each) => ({
        revision: each.revision,
        events: each.events.filter((event) => event.key >= key && event.key < end),
      }))
      .filter(({ events }) => events.length > 0);
  }

  #from(revision: number): Revision[] {
    const first = this.#history[0]?.revision ?? 0;
    return this.#history.slice(Math.max(0, revision - first));
  }

  /** What the keys were at a revision. */
  #at(revision: number): Map<string, KeyValue> {
    const entries = new Map(this.#base);
    for (const { revision: at, events } of this.#history) {
      if (at <= this.#compacted || at > revision) continue;
      for (const event of events)
        if (event.value === undefined) entries.delete(event.key);
        else entries.set(event.key, { ...event, value: event.value });
    }
    return entries;
  }

  #commit(changes: TransactionRequest['changes']): void {
    this.#revision++;
    const events: KeyEvent[] = [];
    for (const change of changes) {
      const { key } = change;
      const before = this.#entries.get(key);
      if (before?.lease !== undefined) this.#leases.get(before.lease)?.keys.delete(key);
      if (change.do === 'put') {
        const { value, lease } = change;
        const createRevision = before?.createRevision ?? this.#revision;
        this.#entries.set(key, { key, value, createRevision, modRevision: this.#revision, lease });
        if (lease !== undefined) this.#leases.get(lease)?.keys.add(key);
        events.push({ key, value, createRevision, modRevision: this.#revision });
      } else if (this.#entries.delete(key))
        events.push({ key, value: undefined, createRevision: 0, modRevision: this.#revision });
    }
    const revision = { revision: this.#revision, events };
    this.#history.push(revision);
    for (const listener of [...this.#listeners]) listener(revision);
  }

  #prolong(id: number): void {
    const lease = this.#leases.get(id);
    if (lease === undefined) return;
    lease.stopTimer();
    const ms = lease.seconds * 1000 + this.#random.between(0, LEASE_LOOK_MS);
    lease.stopTimer = this.#scheduler.after(ms, () => this.#end(id));
  }

  #end(id: number): void {
    const lease = this.#leases.get(id);
    lease?.stopTimer();
    this.#leases.delete(id);
    if (lease !== undefined && lease.keys.size > 0)
      this.#commit([...lease.keys].map((key) => ({ do: 'delete', key })));
  }

  #checkUp(): void {
    if (!this.#isUp) throw new EtcdError('etcdserver: no leader', UNAVAILABLE);
  }

  #checkQuota(): void {
    if (this.isFull) throw new EtcdError('etcdserver: mvcc: database space exceeded', RESOURCE_EXHAUSTED);
  }
}
