/** The part of a master that stands for leader, and does the work of one in each of its terms. */
import type { Leader, Leadership, Term } from './leadership.js';

/** What a master does while it leads. */
export interface TermWork {
  /**
   * Called when this master leads; it takes nodes at once. Resolves when it serves all else. Throws when it cannot; the
   * term is then given up.
   */
  begin(term: Term): Promise<void>;
  /** Called after each `begin`, when the term is over. Resolves when nothing of it is under way any more. */
  end(): Promise<void>;
}

export interface Candidate extends Leadership {
  /** Resolves when this master may write for the first time. Rejects with DRV_STORE_CLOSED when it stops before. */
  readonly elected: Promise<void>;
  /** Whether the store has been silent for so long that other masters may know better who leads. */
  isSilent(): boolean;
  /**
   * Takes what another master knows. While the store is silent here, a leader of a later term counts: the term of this
   * master is over then.
   */
  hear(leader: Leader): void;
  /**
   * Does `work` in each term from now on. Resolves when this master serves, or another one leads. Throws what `begin`
   * throws where no other master could lead.
   */
  serve(work: TermWork): Promise<void>;
  /** Gives the leadership up, ends the work, and stands no more. Idempotent. */
  stop(): Promise<void>;
}
