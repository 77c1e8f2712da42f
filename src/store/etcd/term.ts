/**
 * The time in which a master holds the leader key. Its number is the key's create revision, added to the base of the
 * state (`epoch-base.ts`).
 */
import { DroverError } from '../../model/errors.js';
import type { LeaderHolder } from './leader-key.js';
import type { Lease } from './lease.js';

export class ElectedTerm {
  /** The number of the term, larger for each later term. */
  readonly epoch: number;
  /** The leader key's create revision in this etcd. */
  readonly createRevision: number;
  /** The name of the term in its writes. */
  readonly session: string;
  readonly #lease: Lease;
  readonly #leaseId: number;
  readonly #ending = new AbortController();
  #end: DroverError | undefined;

  constructor(
    { epoch, createRevision }: { readonly epoch: number; readonly createRevision: number },
    holder: LeaderHolder,
    lease: Lease,
  ) {
    this.epoch = epoch;
    this.createRevision = createRevision;
    this.session = holder.session;
    this.#leaseId = holder.lease;
    this.#lease = lease;
  }

  /** Aborts when the term ends. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** True while this master may decide and write. False while etcd is silent, and for good after the end. */
  get isCurrent(): boolean {
    return !this.signal.aborted && this.#lease.id === this.#leaseId && this.#lease.isCurrent;
  }

  /** Throws DRV_NOT_LEADER after the term's end. */
  check(): void {
    if (this.#end !== undefined) throw this.#end;
  }

  /** Ends the term for good. Returns the error for this and all later writes. Repeatable; the first reason is kept. */
  end(why: string): DroverError {
    if (this.#end === undefined) {
      this.#end = new DroverError('DRV_NOT_LEADER', `this master does not lead any more: ${why}`);
      this.#ending.abort(this.#end);
    }
    return this.#end;
  }
}
