/**
 * What Drover needs of etcd, without how it is asked: keys and transactions, leases, a watch, and what an operator
 * wants to know of it. `wire/` asks a cluster. Keys are printable ASCII. A revision here is etcd's, of its whole
 * cluster, and not the store's.
 */

export interface KeyValue {
  readonly key: string;
  readonly value: Buffer;
  /** The revision at which the key came into being. */
  readonly createRevision: number;
  /** The revision of its last change. */
  readonly modRevision: number;
}

export interface RangeRequest {
  readonly key: string;
  /** The first key that is not asked for; absent: one key. */
  readonly end?: string;
  /** The most keys of an answer; absent: all. */
  readonly limit?: number;
  /** The revision to read at; absent: the newest, agreed on by the cluster's members. */
  readonly revision?: number;
}

export interface RangeAnswer {
  readonly entries: readonly KeyValue[];
  /** There are more keys than `limit`. */
  readonly hasMore: boolean;
  /** The revision of the cluster when it answered. */
  readonly revision: number;
}

/** A condition of a transaction. 0: the key does not exist. */
export interface Comparison {
  readonly key: string;
  readonly field: 'createRevision' | 'modRevision';
  readonly is: number;
}

/** A change of a transaction. A transaction names a key once. */
export type KeyChange =
  | { readonly do: 'put'; readonly key: string; readonly value: Buffer; readonly lease?: number }
  | { readonly do: 'delete'; readonly key: string };

export interface TransactionRequest {
  /** All must hold, or nothing is changed. */
  readonly comparisons: readonly Comparison[];
  readonly changes: readonly KeyChange[];
  /** The keys that are read, at the same revision, when a comparison fails. */
  readonly otherwiseRead: readonly string[];
}

export interface TransactionAnswer {
  readonly isDone: boolean;
  /** The revision of the cluster; where it is done, that of its changes. */
  readonly revision: number;
  /** Of `otherwiseRead`, the keys that exist. */
  readonly read: readonly KeyValue[];
}

export interface KeyEvent {
  readonly key: string;
  /** Undefined: the key was removed. */
  readonly value: Buffer | undefined;
  readonly createRevision: number;
  readonly modRevision: number;
}

/** All events of a range at some revisions: no revision is cut in two. */
export interface EventBatch {
  readonly events: readonly KeyEvent[];
  /** The last revision of the events. */
  readonly revision: number;
}

export interface MemberStatus {
  readonly version: string;
  /** The size of its file, and what of it is in use. */
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
}

export type Alarm = 'NOSPACE' | 'CORRUPT' | 'UNKNOWN';

export interface CallOptions {
  /** Default: 5 s. */
  readonly deadlineMs?: number;
}

/**
 * One cluster. Every call is tried once, on one endpoint, and ends at its deadline; the next call after one without an
 * answer goes to another endpoint. All throw `EtcdError`, which says whether a write may have taken effect.
 */
export interface Etcd {
  /** The endpoints, for a message. */
  readonly name: string;
  range(request: RangeRequest, options?: CallOptions): Promise<RangeAnswer>;
  transact(request: TransactionRequest, options?: CallOptions): Promise<TransactionAnswer>;
  /** Grants a lease of `seconds` under an id that the caller has drawn. */
  grantLease(id: number, seconds: number, options?: CallOptions): Promise<void>;
  /** Resolves with the seconds until the lease ends; 0: there is none of this id. */
  renewLease(id: number, options?: CallOptions): Promise<number>;
  /** Ends a lease, and removes its keys. */
  revokeLease(id: number, options?: CallOptions): Promise<void>;
  /**
   * The events of a range from `revision` on, until `signal` aborts. Throws `CompactedError` when etcd no longer has
   * them all, or is older than that, and `EtcdError` when the stream ended. The caller asks again after the last batch that it took.
   */
  watch(
    range: { readonly key: string; readonly end: string; readonly revision: number },
    signal: AbortSignal,
  ): AsyncIterable<EventBatch>;
  /** Forgets what was before `revision`. */
  compact(revision: number): Promise<void>;
  /** Of the member that answers. */
  status(): Promise<MemberStatus>;
  alarms(): Promise<readonly Alarm[]>;
  /** Idempotent. Calls under way fail. */
  close(): void;
}

/** The first key after all keys that begin with `prefix`, which does not end in the last character. */
export function endOfPrefix(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}
