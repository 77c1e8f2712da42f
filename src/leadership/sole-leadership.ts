/** The leadership of a master that is the only one: it leads from its start to its end. */
import type { Leader, Leadership, MasterPeer, Term } from './leadership.js';

export class SoleLeadership implements Leadership {
  readonly #leader: Leader;
  readonly #term: Term;

  constructor(own: MasterPeer & { readonly since: number }) {
    this.#leader = { ...own, epoch: 0 };
    this.#term = { epoch: 0, signal: new AbortController().signal };
  }

  leader(): Leader {
    return this.#leader;
  }

  isLeader(): boolean {
    return true;
  }

  term(): Term {
    return this.#term;
  }

  masters(): readonly MasterPeer[] {
    return [this.#leader];
  }

  onChange(): () => void {
    return () => undefined;
  }
}
