/** What a call to etcd throws. The one question that matters: may the call have taken effect all the same? */

/** Codes of gRPC with which etcd refuses a request before anything comes of it. */
const REFUSALS: ReadonlySet<number> = new Set([3, 5, 7, 8, 9, 11, 12, 16]);
/** Invalid (also a wrong password), not permitted, not known, not authenticated. */
const HOPELESS: ReadonlySet<number> = new Set([3, 7, 12, 16]);
const RESOURCE_EXHAUSTED = 8;
const UNAUTHENTICATED = 16;

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** The code of gRPC that etcd answered with; undefined: it did not answer. */
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }

  /** The request changed nothing, and the same one would be refused again. False: nobody knows what came of it. */
  get isRefusal(): boolean {
    return this.code !== undefined && REFUSALS.has(this.code);
  }

  /** It refuses this user, or knows no such call: waiting is of no use. */
  get isHopeless(): boolean {
    return this.code !== undefined && HOPELESS.has(this.code);
  }

  /** The quota of etcd's file is used up (alarm NOSPACE): it takes no write until an operator makes room. */
  get isOutOfSpace(): boolean {
    return this.code === RESOURCE_EXHAUSTED && this.message.includes('space exceeded');
  }

  /** The token is over, or is not known to this member. */
  get isTokenOver(): boolean {
    return (
      this.code === UNAUTHENTICATED ||
      (this.isRefusal && /invalid auth token|revision of auth store/.test(this.message))
    );
  }
}

/** etcd has compacted what was asked for, or was set back to a time before it: the caller lists again. */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
}
