/**
 * Who leads the masters of a cluster, as this master knows it. `ElectedLeadership` asks etcd; `SoleLeadership` is for a
 * master whose store no other one can have.
 */

/** One master of the cluster. */
export interface MasterPeer {
  readonly nodeId: string;
  /**
   * `host:port` of its cluster port. That port shows a certificate of the cluster's authority which names `nodeId`: a
   * caller checks that name, and not the host.
   */
  readonly clusterAddress: string;
}

export interface Leader extends MasterPeer {
  /** The number of its term: each later term has a larger one. 0: the only master of its cluster. */
  readonly epoch: number;
  /** Since when it leads: Unix milliseconds of the leader's clock. */
  readonly since: number;
}

/** The time in which this master leads. */
export interface Term {
  readonly epoch: number;
  /** Aborts when the term ends. Nothing of the term decides or writes from then on. */
  readonly signal: AbortSignal;
}

export interface Leadership {
  /**
   * The master that leads; null during an election. A master that cannot reach etcd goes on naming the last one that it
   * knows.
   */
  leader(): Leader | null;

  /**
   * Whether this master leads, and takes requests. True also while its store is silent: it then serves reads, and the
   * store refuses writes. False from when it begins to hand over; its term goes on for a moment then.
   */
  isLeader(): boolean;

  /** The term that this master may write in now; null: there is none. */
  term(): Term | null;

  /** All masters that are up, this one among them, by node id. */
  masters(): readonly MasterPeer[];

  /** Calls `listener` after each change of what the other methods answer. Returns how to end that. */
  onChange(listener: () => void): () => void;
}
