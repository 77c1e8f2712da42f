/**
 * The leader among the masters of a cluster, as this master knows it. `ElectedLeadership` asks etcd; `SoleLeadership`
 * serves a master whose store no other master can have.
 */

/** One master of the cluster. */
export interface MasterPeer {
  readonly nodeId: string;
  /**
   * The `host:port` of its cluster port. Its certificate, by the cluster's authority, names `nodeId`: callers check
   * that name rather than the host.
   */
  readonly clusterAddress: string;
}

export interface Leader extends MasterPeer {
  /** The number of its term, larger for each later term. 0: the only master of its cluster. */
  readonly epoch: number;
  /** When it began to lead, in Unix milliseconds of the leader's clock. */
  readonly since: number;
}

/** A time in which this master leads. */
export interface Term {
  readonly epoch: number;
  /** Aborts when the term ends. Nothing of the term decides or writes from then on. */
  readonly signal: AbortSignal;
}

export interface Leadership {
  /**
   * The master that leads; null during an election. A master that cannot reach etcd keeps naming the last leader that
   * it knows.
   */
  leader(): Leader | null;

  /**
   * True when this master leads and takes requests. Stays true while its store is silent: it then serves reads, and the
   * store refuses writes. Becomes false when it begins to hand over, shortly before its term ends.
   */
  isLeader(): boolean;

  /** The term in which this master may write now; null: none. */
  term(): Term | null;

  /** All masters that are up, including this one, by node id. */
  masters(): readonly MasterPeer[];

  /** Calls `listener` after each change of the other methods' answers. Returns the function that unsubscribes. */
  onChange(listener: () => void): () => void;
}
