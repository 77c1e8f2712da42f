/**
 * etcd in memory, on a test's clock: revisions, leases that end, transactions, and faults of each kind of outcome. For
 * tests of leadership and of the store, which real time would make slow.
 */
import type { Clock } from '../../../src/loop/clock.js';
import type {
  Alarm,
  Etcd,
  EventBatch,
  KeyEvent,
  KeyValue,
  MemberStatus,
  RangeAnswer,
  RangeRequest,
  TransactionAnswer,
  TransactionRequest,
} from '../../../src/store/etcd/etcd.js';
import { EtcdError } from '../../../src/store/etcd/etcd-error.js';

/**
 * The faults of a client:
 *
 * - `away`: no call arrives.
 * - `no-answers`: calls take effect, but no answer comes back.
 * - `late`: like `no-answers`, but each transaction takes effect only when the test calls `arrive`.
 * - `full`: puts are refused.
 */
export type FakeFault = 'none' | 'away' | 'no-answers' | 'late' | 'full';

interface Stored extends KeyValue {
  readonly lease: number | undefined;
}

export class FakeEtcd {
  readonly #clock: Clock;
  readonly #entries = new Map<string, Stored>();
  readonly #leases = new Map<number, number>();
  readonly #watches = new Set<() => void>();
  readonly #log: KeyEvent[] = [];
  #late: (() => void)[] = [];
  #revision = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A new client, with faults of its own. */
  client(): FakeClient {
    return new FakeClient(this, this.#clock);
  }

  /** The value of a key now, parsed. */
  json(key: string): unknown {
    this.#endLeases();
    const entry = this.#entries.get(key);
    return entry === undefined ? undefined : JSON.parse(entry.value.toString());
  }

  /** Changes a key, as a program other than Drover does. */
  put(key: string, value: string): void {
    this.#revision++;
    this.#set(key, Buffer.from(value), undefined);
  }

  /** Lets the late transactions take effect. */
  arrive(): void {
    for (const apply of this.#late.splice(0)) apply();
  }

  delay(apply: () => void): void {
    this.#late.push(apply);
  }

  range({ key, end, limit = Number.POSITIVE_INFINITY }: RangeRequest): RangeAnswer {
    this.#endLeases();
    const found = [...this.#entries.values()]
      .filter((entry) => (end === undefined ? entry.key === key : entry.key >= key && entry.key < end))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1));
    return { entries: found.slice(0, limit), hasMore: found.length > limit, revision: this.#revision };
  }

  transact({ comparisons, changes, otherwiseRead }: TransactionRequest): TransactionAnswer {
    this.#endLeases();
    const isDone = comparisons.every(({ key, field, is }) => (this.#entries.get(key)?.[field] ?? 0) === is);
    if (!isDone) {
      const read = otherwiseRead.flatMap((key) => this.#entries.get(key) ?? []);
      return { isDone, revision: this.#revision, read };
    }
    this.#revision++;
    for (const change of changes) {
      if (change.do === 'put') this.#set(change.key, change.value, change.lease);
      else this.#delete(change.key);
    }
    return { isDone, revision: this.#revision, read: [] };
  }

  grant(id: number, seconds: number): void {
    this.#leases.set(id, this.#clock.monotonic() + seconds * 1000);
  }

  /** Renews a lease. Returns its seconds; 0: the lease is over. */
  renew(id: number): number {
    this.#endLeases();
    if (!this.#leases.has(id)) return 0;
    this.#leases.set(id, this.#clock.monotonic() + 3000);
    return 3;
  }

  revoke(id: number): void {
    this.#leases.set(id, -1);
    this.#endLeases();
  }

  eventsFrom(revision: number): KeyEvent[] {
    this.#endLeases();
    return this.#log.filter(({ modRevision }) => modRevision >= revision);
  }

  /** Calls `wake` after each change. Returns the function that ends this. */
  onChange(wake: () => void): () => void {
    this.#watches.add(wake);
    return () => this.#watches.delete(wake);
  }

  #endLeases(): void {
    const now = this.#clock.monotonic();
    for (const [id, endsAt] of this.#leases) {
      if (endsAt > now) continue;
      this.#leases.delete(id);
      const keys = [...this.#entries.values()].filter(({ lease }) => lease === id);
      if (keys.length > 0) this.#revision++;
      for (const { key } of keys) this.#delete(key);
    }
  }

  #set(key: string, value: Buffer, lease: number | undefined): void {
    const modRevision = this.#revision;
    const createRevision = this.#entries.get(key)?.createRevision ?? modRevision;
    this.#entries.set(key, { key, value, createRevision, modRevision, lease });
    this.#tell({ key, value, createRevision, modRevision });
  }

  #delete(key: string): void {
    if (this.#entries.delete(key))
      this.#tell({ key, value: undefined, createRevision: 0, modRevision: this.#revision });
  }

  #tell(event: KeyEvent): void {
    this.#log.push(event);
    for (const wake of this.#watches) wake();
  }
}

/** The cluster as one master sees it. */
export class FakeClient implements Etcd {
  readonly name = 'fake';
  fault: FakeFault = 'none';
  alarmsOn: readonly Alarm[] = [];
  /** The revisions of the compactions, in order. */
  readonly compactions: number[] = [];
  readonly #etcd: FakeEtcd;
  readonly #clock: Clock;

  constructor(etcd: FakeEtcd, clock: Clock) {
    this.#etcd = etcd;
    this.#clock = clock;
  }

  range(request: RangeRequest, deadlineMs?: number): Promise<RangeAnswer> {
    return this.#call(() => this.#etcd.range(request), deadlineMs);
  }

  async transact(request: TransactionRequest, deadlineMs?: number): Promise<TransactionAnswer> {
    if (this.fault === 'full') throw new EtcdError('etcdserver: mvcc: database space exceeded', 8);
    if (this.fault === 'late') this.#etcd.delay(() => this.#etcd.transact(request));
    return this.#call(() => this.#etcd.transact(request), deadlineMs);
  }

  grantLease(id: number, seconds: number, deadlineMs?: number): Promise<void> {
    return this.#call(() => this.#etcd.grant(id, seconds), deadlineMs);
  }

  renewLease(id: number, deadlineMs?: number): Promise<number> {
    return this.#call(() => this.#etcd.renew(id), deadlineMs);
  }

  revokeLease(id: number, deadlineMs?: number): Promise<void> {
    return this.#call(() => this.#etcd.revoke(id), deadlineMs);
  }

  async *watch(
    { key, end, revision }: { readonly key: string; readonly end: string; readonly revision: number },
    signal: AbortSignal,
  ): AsyncGenerator<EventBatch> {
    for (let from = revision; !signal.aborted; ) {
      const events = this.#etcd.eventsFrom(from).filter((event) => event.key >= key && event.key < end);
      const last = events.at(-1);
      if (last !== undefined) {
        from = last.modRevision + 1;
        yield { events, revision: last.modRevision };
      } else await this.#change(signal);
    }
  }

  compact(revision: number): Promise<void> {
    return this.#call(() => void this.compactions.push(revision));
  }

  status(): Promise<MemberStatus> {
    return this.#call(() => ({ version: 'fake', databaseBytes: 4096, databaseBytesInUse: 1024 }));
  }

  alarms(): Promise<readonly Alarm[]> {
    return this.#call(() => this.alarmsOn);
  }

  close(): void {}

  /** Resolves after the next change, and after a second at most, because a lease may have ended. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        unsubscribe();
        timer.cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const unsubscribe = this.#etcd.onChange(end);
      const timer = this.#clock.setTimer(1000, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  async #call<T>(effect: () => T, deadlineMs = 5000): Promise<T> {
    // A call takes a turn of the event loop, as a call over a network does.
    await undefined;
    const isSilent = this.fault === 'away' || this.fault === 'no-answers' || this.fault === 'late';
    if (!isSilent) return effect();
    if (this.fault === 'no-answers') effect();
    await new Promise<void>((resolve) => this.#clock.setTimer(deadlineMs, resolve));
    throw new EtcdError(`no answer within ${deadlineMs} ms`);
  }
}
