/**
 * The operations of etcd that Drover uses, whatever carries them: keys and transactions, leases, a watch, and figures
 * for operators. `wire/` talks to a cluster. Keys are printable ASCII. A revision here is the revision of the whole
 * etcd cluster, not the store's.
 */

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision at which the key was created. */
  readonly createRevision: number;
  /** The revision of the key's last change. */
  readonly modRevision: number;
}

export interface RangeRequest {
  readonly key: string;
  /** The first key after the range; absent: only `key`. */
  readonly end?: string;
  /** The most keys in an answer; absent: all. */
  readonly limit?: number;
  /** The revision to read at; absent: the newest revision that the cluster's members agree on. */
  readonly revision?: number;
}

export interface RangeAnswer {
  readonly entries: readonly KeyValue[];
  /** True when the range has more keys than `limit`. */
  readonly hasMore: boolean;
  /** The revision of the cluster at the time of its answer. */
  readonly revision: number;
}

/** A condition of a transaction. `is` 0: the key does not exist. */
export interface Comparison {
  readonly key: string;
  readonly field: 'createRevision' | 'modRevision';
  readonly is: number;
}

/** A change of a transaction. A transaction may name a key only once. */
export type KeyChange =
  | { readonly do: 'put'; readonly key: string; readonly value: Buffer; readonly lease?: number }
  | { readonly do: 'delete'; readonly key: string };

export interface TransactionRequest {
  /** The conditions. When one of them is not met, nothing is changed. */
  readonly comparisons: readonly Comparison[];
  readonly changes: readonly KeyChange[];
  /** The keys that are read at the same revision when a condition fails. */
  readonly otherwiseRead: readonly string[];
}

export interface TransactionAnswer {
  readonly isDone: boolean;
  /** The revision of the cluster; after success the revision of the changes. */
  readonly revision: number;
  /** The existing keys among `otherwiseRead`. */
  readonly read: readonly KeyValue[];
}

export interface KeyEvent extends Omit<KeyValue, 'value'> {
  /** The new value; undefined: the key was removed. */
  readonly value: Buffer | undefined;
}

/** All events of a range at some revisions. A revision is never split between batches. */
export interface EventBatch {
  readonly events: readonly KeyEvent[];
  /** The last revision of the events. */
  readonly revision: number;
}

export interface MemberStatus {
  readonly version: string;
  /** The size of the member's file, and how many bytes of it are in use. */
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
}

export type Alarm = 'NOSPACE' | 'CORRUPT' | 'UNKNOWN';

/**
 * A cluster of etcd. Every call is tried once, on one endpoint, and ends after `deadlineMs`, 5 s by default. After a call
 * without an answer, the next call uses another endpoint. All calls throw `EtcdError`, which says whether a write may
 * have taken effect.
 */
export interface Etcd {
  /** The endpoints, for messages. */
  readonly name: string;
  range(request: RangeRequest, deadlineMs?: number): Promise<RangeAnswer>;
  transact(request: TransactionRequest, deadlineMs?: number): Promise<TransactionAnswer>;
  /** Grants a lease of `seconds` under an id that the caller chose at random. */
  grantLease(id: number, seconds: number, deadlineMs?: number): Promise<void>;
  /** Resolves with the seconds until the lease ends; 0: the lease does not exist. */
  renewLease(id: number, deadlineMs?: number): Promise<number>;
  /** Ends a lease, and removes its keys. */
  revokeLease(id: number, deadlineMs?: number): Promise<void>;
  /**
   * Yields the events of a range from `revision` on, until `signal` aborts. Throws `CompactedError` when etcd no longer
   * has all of them, or is at an older revision, and `EtcdError` when the stream ended. The caller then watches again
   * from its last batch.
   */
  watch(
    range: { readonly key: string; readonly end: string; readonly revision: number },
    signal: AbortSignal,
  ): AsyncIterable<EventBatch>;
  /** Forgets all revisions before `revision`. */
  compact(revision: number): Promise<void>;
  /** The status of the member that answers. */
  status(): Promise<MemberStatus>;
  alarms(): Promise<readonly Alarm[]>;
  /** Closes the connection; calls under way fail. Idempotent. */
  close(): void;
}

/** The first key after all keys that begin with `prefix`. The last character of `prefix` must not be the highest. */
export function endOfPrefix(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
