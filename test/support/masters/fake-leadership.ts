/** An election that a test decides, and what each master knows of it. */
import type { Leader, Leadership, MasterPeer, Term } from '../../../src/leadership/leadership.js';

export class FakeElection {
  #leader: Leader | null = null;
  #epoch = 0;
  #masters: readonly MasterPeer[] = [];
  readonly #listeners = new Set<() => void>();

  /** Lets a master lead from now on, in a new term; null: nobody. */
  lead(master: MasterPeer | null): void {
    this.#leader = master && { ...master, epoch: ++this.#epoch, since: 0 };
    this.#tell();
  }

  setMasters(masters: readonly MasterPeer[]): void {
    this.#masters = masters;
    this.#tell();
  }

  /** What the master `nodeId` knows. */
  as(nodeId: string): Leadership {
    const isLeader = (): boolean => this.#leader?.nodeId === nodeId;
    const never = new AbortController().signal;
    const term = (): Term | null =>
      isLeader() && this.#leader !== null ? { epoch: this.#leader.epoch, signal: never } : null;
    return {
      leader: () => this.#leader,
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
