/** An election that a test decides, and the leadership that each master sees. */
import type { Leader, Leadership, MasterPeer, Term } from '../../../src/leadership/leadership.js';

export class FakeElection {
  #leader: Leader | null = null;
  #epoch = 0;
  /** The phase of the leader as the leader itself knows it. The other masters always see it as leading. */
  #own: 'leads' | 'begins' | 'hands over' = 'leads';
  #masters: readonly MasterPeer[] = [];
  readonly #listeners = new Set<() => void>();

  /** Makes a master lead from now on, in a new term; null: no master leads. */
  lead(master: MasterPeer | null): void {
    this.#leader = master && { ...master, epoch: ++this.#epoch, since: 0 };
    this.#own = 'leads';
    this.#tell();
  }

  /** Makes a master win the election without serving yet. */
  win(master: MasterPeer): void {
    this.lead(master);
    this.#own = 'begins';
    this.#tell();
  }

  /** Makes the leader take no new work. The other masters do not know yet. */
  handOver(): void {
    this.#own = 'hands over';
    this.#tell();
  }

  setMasters(masters: readonly MasterPeer[]): void {
    this.#masters = masters;
    this.#tell();
  }

  /** The leadership as the master `nodeId` sees it. */
  as(nodeId: string): Leadership {
    const isOwn = (): boolean => this.#leader?.nodeId === nodeId;
    const isLeader = (): boolean => isOwn() && this.#own === 'leads';
    const never = new AbortController().signal;
    const term = (): Term | null =>
      isOwn() && this.#leader !== null && this.#own !== 'begins'
        ? { epoch: this.#leader.epoch, signal: never }
        : null;
    return {
      leader: () => (isOwn() && this.#own === 'hands over' ? null : this.#leader),
      isLeader,
      term,
      masters: () => this.#masters,
      onChange: (listener) => {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
      },
    };
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
