/** An election that a test decides, and what each master knows of it. */
import type { Leader, Leadership, MasterPeer, Term } from '../../../src/leadership/leadership.js';

export class FakeElection {
  #leader: Leader | null = null;
  #epoch = 0;
  /** What the leader itself says of its leadership. The others say that it leads. */
  #own: 'leads' | 'begins' | 'hands over' = 'leads';
  #masters: readonly MasterPeer[] = [];
  readonly #listeners = new Set<() => void>();

  /** Lets a master lead from now on, in a new term; null: nobody. */
  lead(master: MasterPeer | null): void {
    this.#leader = master && { ...master, epoch: ++this.#epoch, since: 0 };
    this.#own = 'leads';
    this.#tell();
  }

  /** A master has won, and does not serve yet. */
  win(master: MasterPeer): void {
    this.lead(master);
    this.#own = 'begins';
    this.#tell();
  }

  /** The leader takes nothing new. The other masters do not know yet. */
  handOver(): void {
    this.#own = 'hands over';
    this.#tell();
  }

  setMasters(masters: readonly MasterPeer[]): void {
    this.#masters = masters;
    this.#tell();
  }

  /** What the master `nodeId` knows. */
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
