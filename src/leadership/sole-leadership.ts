/** The leadership of the only master: it leads from its start to its end. */
import type { Candidate, TermWork } from './candidate.js';
import type { Leader, MasterPeer, Term } from './leadership.js';

export class SoleLeadership implements Candidate {
  readonly elected = Promise.resolve();
  readonly isInTouch = true;
  readonly #leader: Leader;
  readonly #ending = new AbortController();
  readonly #term: Term = { epoch: 0, signal: this.#ending.signal };
  #work: TermWork | undefined;

  constructor(own: MasterPeer & { readonly since: number }) {
    this.#leader = { ...own, epoch: 0 };
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

  heard(): void {}

  onChange(): () => void {
    return () => undefined;
  }

  async serve(work: TermWork): Promise<void> {
    this.#work = work;
    await work.begin(this.#term);
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    const work = this.#work;
    this.#work = undefined;
    await work?.end();
  }
}
