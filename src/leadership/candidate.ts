/** The part of a master that stands for leader, and does the work of one in each of its terms. */
import type { Leader, Leadership, Term } from './leadership.js';

/** What a master does while it leads. */
export interface TermWork {
  /**
   * Called when this master leads; it takes nodes at once. Resolves when it serves all else. Throws when it cannot; the
   * term is then given up.
   */
  begin(term: Term): Promise<void>;
  /**
   * Called before a term is handed over, when this master says already that it does not lead, and may write still.
   * Resolves when what it has begun for clients is answered, or soon.
   */
  finish(): Promise<void>;
  /** Called after each `begin`, when the term is over. Resolves when nothing of it is under way any more. */
  end(): Promise<void>;
}

/** A leadership that the other masters can help where etcd is silent (`LeaderSearch`). */
export interface AskingLeadership extends Leadership {
  /** Whether what this master knows of the leadership is of now. False while etcd is silent. */
  readonly isInTouch: boolean;
  /** Another master says who leads. It is believed while etcd is silent, where that is a later term. */
  heard(leader: Leader): void;
}

export interface Candidate extends AskingLeadership {
  /** Resolves when this master may write for the first time. Rejects with DRV_STORE_CLOSED when it stops before. */
  readonly elected: Promise<void>;
  /**
   * Does `work` in each term from now on. Resolves when this master serves, or another one leads. Throws what `begin`
   * throws where no other master could lead.
   */
  serve(work: TermWork): Promise<void>;
  /**
   * Lets another master lead: takes nothing new, finishes what it has begun, gives the leadership up, ends the work, and
   * stands no more. Idempotent.
   */
  stop(): Promise<void>;
}
