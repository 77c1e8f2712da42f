/**
 * The requests that wait for a leader, limited in number and time. A waiting request holds its head and the bytes that
 * the connection has read ahead, about 80 KiB; the rest of a body stays with the client.
 */
import type { Leader, Leadership } from '../../leadership/leadership.js';
import { Bell } from '../../loop/bell.js';
import type { Clock } from '../../loop/clock.js';

const HOLD_MS = 5000;
const MOST_HELD = 512;
/** The time between two tries to reach the same leader. */
const AGAIN_MS = 100;

/** The place where a request is answered: in this process, or at another master. */
type Target = 'here' | Leader;

export interface HoldsOptions {
  readonly nodeId: string;
  readonly leadership: Pick<Leadership, 'leader' | 'isLeader' | 'onChange'>;
  /** True when the state of this process is loaded, so that it can answer if it leads. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
}

export class Holds {
  readonly #options: HoldsOptions;
  readonly #held = new Set<Hold>();

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  /** True when this master leads or is about to, so that waiting requests may be answered here. */
  get isNext(): boolean {
    const { leadership, nodeId } = this.#options;
    return leadership.isLeader() || leadership.leader()?.nodeId === nodeId;
  }

  /** The place for requests now; undefined: no master can answer. */
  target(): Target | undefined {
    const { leadership, nodeId, isReady } = this.#options;
    if (leadership.isLeader()) return isReady() ? 'here' : undefined;
    const leader = leadership.leader();
    // A leader with the name of this node is an earlier process of this node, which has ended.
    return leader === null || leader.nodeId === nodeId ? undefined : leader;
  }

  /**
   * Takes a place for a request that waits. Undefined: all places are taken. `before`: an earlier wait of the same
   * request; the new wait gets only its remaining time.
   */
  enter(before?: Hold): Hold | undefined {
    if (this.#held.size >= MOST_HELD) return undefined;
    return new Hold(this.#options, this.#held, before?.leftMs);
  }
}

export function isSame(one: Target | undefined, other: Target | undefined): boolean {
  return typeof one === 'object' && typeof other === 'object' ? one.epoch === other.epoch : one === other;
}

/** The wait of one request. */
export class Hold {
  readonly #options: Pick<HoldsOptions, 'leadership' | 'clock'>;
  /** The waits that have a place. */
  readonly #held: Set<Hold>;
  readonly #endsAt: number;

  constructor(options: Pick<HoldsOptions, 'leadership' | 'clock'>, held: Set<Hold>, forMs: number = HOLD_MS) {
    this.#options = options;
    this.#held = held.add(this);
    this.#endsAt = options.clock.monotonic() + forMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - this.#options.clock.monotonic());
  }

  /** Ends the wait and frees its place. Idempotent. */
  leave(): void {
    this.#held.delete(this);
  }

  /** Resolves when the leader changes, or after a short time. Answers false when the time of the wait is over. */
  async again(): Promise<boolean> {
    const { clock, leadership } = this.#options;
    const { leftMs } = this;
    if (leftMs === 0) return false;
    const change = new Bell();
    const unsubscribe = leadership.onChange(() => change.ring());
    await change.wait(undefined, { clock, ms: Math.min(AGAIN_MS, leftMs) });
    unsubscribe();
    return this.leftMs > 0;
  }
}
