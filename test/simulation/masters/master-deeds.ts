/** What befalls the masters of a fleet and their etcd, as values; drawn like the other operations. */
import type { Direction } from '../network/path.js';
import type { Size } from '../operator/operations.js';
import type { Random } from '../random.js';

/** `master`: one of them by number; null: the one that leads at that moment. */
export type MasterDeed =
  | { readonly do: 'kill'; readonly master: number | null; readonly effects: number; readonly forMs: number }
  | { readonly do: 'power-off' | 'stall'; readonly master: number | null; readonly forMs: number }
  | {
      readonly do: 'stop';
      readonly master: number | null;
      readonly isInterrupt: boolean;
      readonly forMs: number;
    }
  /** The machine is cut off from everything, or only from etcd. */
  | {
      readonly do: 'cut' | 'cut-etcd';
      readonly master: number | null;
      readonly directions: readonly Direction[];
      readonly forMs: number;
    }
  /** One node cannot talk to one master. */
  | {
      readonly do: 'part';
      readonly master: number | null;
      readonly node: number;
      readonly directions: readonly Direction[];
      readonly forMs: number;
    }
  | {
      readonly do: 'lose-answers';
      readonly master: number | null;
      readonly probability: number;
      readonly forMs: number;
    }
  | {
      readonly do: 'slow-etcd';
      readonly master: number | null;
      readonly byMs: number;
      readonly forMs: number;
    }
  | { readonly do: 'reset-etcd'; readonly master: number | null }
  | { readonly do: 'etcd-down' | 'etcd-full'; readonly forMs: number }
  /**
   * The leader is cut off from everything. The next one is elected and takes the nodes, and etcd is away from then on. After
   * `awayMs` the nodes reach only the former leader, which has not heard of the next.
   */
  | { readonly do: 'two-leaders'; readonly awayMs: number; readonly forMs: number }
  /** `keep`: how many of the last revisions stay. */
  | { readonly do: 'compact'; readonly keep: number };

export function drawMasterDeed(random: Random, { masters = 1, nodes }: Size): MasterDeed {
  const master = random.chance(0.6) ? null : random.below(masters);
  const forMs = random.weighted([
    [2, random.between(100, 2000)],
    [4, random.between(2000, 9000)],
    [2, random.between(9000, 40_000)],
    [0.5, 70_000],
  ]);
  const directions = random.pick<readonly Direction[]>([['up', 'down'], ['up', 'down'], ['up'], ['down']]);
  return random.weighted<MasterDeed>([
    [4, { do: 'kill', master, effects: random.pick([0, 0, random.below(10), random.below(60)]), forMs }],
    [2, { do: 'power-off', master, forMs }],
    [3, { do: 'stall', master, forMs: random.pick([300, 2500, 3500, 8000, 30_000]) }],
    [2, { do: 'stop', master, isInterrupt: random.chance(0.2), forMs }],
    [3, { do: 'cut', master, directions, forMs }],
    [4, { do: 'cut-etcd', master, directions, forMs }],
    [2, { do: 'part', master, node: random.below(nodes), directions, forMs }],
    [3, { do: 'lose-answers', master, probability: random.pick([0.1, 0.5, 1]), forMs }],
    [3, { do: 'slow-etcd', master, byMs: random.pick([50, 500, 3000, 9000]), forMs }],
    [2, { do: 'reset-etcd', master }],
    [2, { do: 'etcd-down', forMs }],
    [1, { do: 'etcd-full', forMs }],
    [2, { do: 'compact', keep: random.pick([0, 0, 3, 20]) }],
  ]);
}

/** Long enough for the nodes to find the next leader, and to try all others when they have lost it. */
export function drawTwoLeaders(random: Random): Extract<MasterDeed, { do: 'two-leaders' }> {
  return { do: 'two-leaders', awayMs: random.between(6000, 14_000), forMs: random.between(9000, 15_000) };
}
