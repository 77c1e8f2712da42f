/** The part of a master that is a candidate for leader, and does a leader's work in each of its terms. */
import type { Leader, Leadership, Term } from './leadership.js';

/** A master's work while it leads. */
export interface TermWork {
  /**
   * Called when this master leads; it takes nodes at once. Resolves when it serves everything else. Throws when it
   * cannot lead; the term is then given up.
   */
  begin(term: Term): Promise<void>;
  /**
   * Called before a term is handed over, when this master already says that it does not lead, but may still write.
   * Resolves when the requests that clients began are answered, or after a short time.
   */
  finish(): Promise<void>;
  /** Called after each `begin`, when the term is over. Resolves when no work of the term is under way any more. */
  end(): Promise<void>;
}

/** A leadership that also listens to the other masters while etcd is silent (`LeaderSearch`). */
export interface AskingLeadership extends Leadership {
  /** True while this master's knowledge of the leadership is up to date. False while etcd is silent. */
  readonly isInTouch: boolean;
  /**
   * Called when another master says who leads. The news is used only while etcd is silent, and only for a later term.
   */
  heard(leader: Leader): void;
}

export interface Candidate extends AskingLeadership {
  /**
   * Resolves when this master may write for the first time. Rejects with DRV_STORE_CLOSED when the master stops first.
   */
  readonly elected: Promise<void>;
  /**
   * Does `work` in each term from now on. Resolves when this master serves, or another master leads. Throws the error
   * of `begin` when no other master could lead.
   */
  serve(work: TermWork): Promise<void>;
  /**
   * Lets another master lead: takes no new requests, finishes the begun ones, gives up the leadership, ends
   * the work, and is no candidate any more. Idempotent.
   */
  stop(): Promise<void>;
}
