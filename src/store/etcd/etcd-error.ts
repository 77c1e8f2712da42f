/** The errors of calls to etcd. Their main question: may the call have taken effect despite the error? */

/** The advice for an operator whose etcd has the alarm NOSPACE. */
export const MAKE_ROOM =
  'its quota is used up (alarm NOSPACE): make room, then disarm the alarm (docs/several-masters.md, "The state on etcd")';

/** The codes of gRPC with which etcd refuses a request before it has any effect. */
const REFUSALS: ReadonlySet<number> = new Set([3, 5, 7, 8, 9, 11, 12, 16]);
/**
 * The codes of errors that waiting does not solve: invalid (also a wrong password), not permitted, unknown call, not
 * authenticated.
 */
const HOPELESS: ReadonlySet<number> = new Set([3, 7, 12, 16]);
const RESOURCE_EXHAUSTED = 8;
const UNAUTHENTICATED = 16;

export class EtcdError extends Error {
  override readonly name = 'EtcdError';
  /** The gRPC code of etcd's answer; undefined: etcd did not answer. */
  readonly code: number | undefined;

  constructor(message: string, code?: number) {
    super(message);
    this.code = code;
  }

  /**
   * True when the request changed nothing, and would be refused again. False when the request may have taken effect.
   */
  get isRefusal(): boolean {
    return this.code !== undefined && REFUSALS.has(this.code);
  }

  /** True when etcd refuses this user or does not know the call, so that waiting is of no use. */
  get isHopeless(): boolean {
    return this.code !== undefined && HOPELESS.has(this.code);
  }

  /**
   * True when the quota of etcd's file is used up (alarm NOSPACE): etcd takes no write until an operator makes room.
   */
  get isOutOfSpace(): boolean {
    return this.code === RESOURCE_EXHAUSTED && this.message.includes('space exceeded');
  }

  /** The message with what an operator can do, where that is known. */
  get advice(): string {
    return this.isOutOfSpace ? `${this.message}; ${MAKE_ROOM}` : this.message;
  }

  /** True when the token has expired, or this member does not know the token. */
  get isTokenOver(): boolean {
    return (
      this.code === UNAUTHENTICATED ||
      (this.isRefusal && /invalid auth token|revision of auth store/.test(this.message))
    );
  }
}

/**
 * Thrown when etcd has compacted the requested revisions, or was restored to an earlier revision. The caller then reads
 * a new snapshot.
 */
export class CompactedError extends Error {
  override readonly name = 'CompactedError';
}
