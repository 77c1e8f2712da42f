/**
 * The requests that wait for a leader: so many at most, and each so long at most. What waits holds its head and what
 * the connection has read ahead of it, about 80 KiB; the rest of a body stays with the client.
 */
import type { Leader, Leadership } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';

const HOLD_MS = 5000;
const MOST_HELD = 512;
/** A leader that cannot be reached is tried again so soon. */
const AGAIN_MS = 100;

/** Where a request is answered: by this process, or by another master. */
export type Target = 'here' | Leader;

export interface HoldsOptions {
  readonly nodeId: string;
  readonly leadership: Pick<Leadership, 'leader' | 'isLeader' | 'onChange'>;
  /** Whether this process can answer when it leads: its state is loaded. */
  readonly isReady: () => boolean;
  readonly clock: Clock;
}

export class Holds {
  readonly #options: HoldsOptions;
  #count = 0;

  constructor(options: HoldsOptions) {
    this.#options = options;
  }

  /** Whether what waits here may come to be answered here: this master leads, or is about to. */
  get isNext(): boolean {
    const { leadership, nodeId } = this.#options;
    return leadership.isLeader() || leadership.leader()?.nodeId === nodeId;
  }

  /** Undefined: nobody leads. */
  target(): Target | undefined {
    const { leadership, nodeId, isReady } = this.#options;
    if (leadership.isLeader()) return isReady() ? 'here' : undefined;
    const leader = leadership.leader();
    // The name of this node stands for an earlier process of it.
    return leader === null || leader.nodeId === nodeId ? undefined : leader;
  }

  /**
   * Takes one of the places. Undefined: all are taken. `before`: a wait of the same request; this one has the time that
   * it left.
   */
  enter(before?: Hold): Hold | undefined {
    if (this.#count >= MOST_HELD) return undefined;
    this.#count++;
    const leave = (): void => {
      this.#count--;
    };
    return new Hold(this.#options, leave, before?.leftMs);
  }
}

export function isSame(one: Target | undefined, other: Target | undefined): boolean {
  return typeof one === 'object' && typeof other === 'object' ? one.epoch === other.epoch : one === other;
}

/** The wait of one request. */
export class Hold {
  readonly #options: Pick<HoldsOptions, 'leadership' | 'clock'>;
  readonly #onLeave: () => void;
  #hasLeft = false;
  readonly #endsAt: number;

  constructor(
    options: Pick<HoldsOptions, 'leadership' | 'clock'>,
    onLeave: () => void,
    forMs: number = HOLD_MS,
  ) {
    this.#options = options;
    this.#onLeave = onLeave;
    this.#endsAt = options.clock.monotonic() + forMs;
  }

  get leftMs(): number {
    return Math.max(0, this.#endsAt - this.#options.clock.monotonic());
  }

  /** The request waits no more. Idempotent. */
  leave(): void {
    if (this.#hasLeft) return;
    this.#hasLeft = true;
    this.#onLeave();
  }

  /** Resolves after a change of who leads, and soon also without one. Answers false when the time is over. */
  async again(): Promise<boolean> {
    const { clock, leadership } = this.#options;
    const { leftMs } = this;
    if (leftMs === 0) return false;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        timer.cancel();
        unsubscribe();
        resolve();
      };
      const timer = clock.setTimer(Math.min(AGAIN_MS, leftMs), end);
      const unsubscribe = leadership.onChange(end);
    });
    return this.leftMs > 0;
  }
}
