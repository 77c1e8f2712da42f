/**
 * While etcd does not answer this master, it cannot hear from there that another one leads: so it asks the other masters.
 * A leader that only etcd is cut off from ends its term then, and its nodes go to the new one before they count as lost.
 */
import type { Clock } from '../loop/clock.js';
import { withDeadline } from '../loop/deadline.js';
import type { Part } from '../loop/lifecycle.js';
import { pause } from '../loop/pause.js';
import { DroverError } from '../model/errors.js';
import type { AskingLeadership } from './candidate.js';
import type { Leader, MasterPeer } from './leadership.js';

/** The nodes have `nodeTimeoutMs` (6 s) from the new leader's election to find it. */
const ASK_EVERY_MS = 1000;
const ANSWER_MS = 2000;

export interface KnownPeers {
  /** Reads what is kept. Throws DRV_NODE_ROOT_UNUSABLE. */
  open(): Promise<void>;
  /** Resolves when what was learned is on disk, or could not be written. */
  written(): Promise<void>;
  /** All masters, and those that were. */
  readonly peers: readonly MasterPeer[];
  /** These are up. An empty list changes nothing. */
  learn(masters: readonly MasterPeer[]): void;
}

export interface LeaderSearchOptions {
  readonly leadership: AskingLeadership;
  /** This master. */
  readonly nodeId: string;
  /** Keeps who was ever up, over restarts too: one that was away then may lead by now. */
  readonly known: KnownPeers;
  /** Asks another master who leads, as it knows. Throws DroverErrors. */
  readonly ask: (peer: MasterPeer, signal: AbortSignal) => Promise<Leader | null>;
  readonly clock: Clock;
}

export class LeaderSearch implements Part {
  readonly #options: LeaderSearchOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: LeaderSearchOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#options.known.open();
    this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    await this.#options.known.written();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { leadership, nodeId, known, clock } = this.#options;
    while (!signal.aborted) {
      await pause(clock, ASK_EVERY_MS, signal);
      known.learn(leadership.masters());
      if (signal.aborted || leadership.isInTouch) continue;
      const others = known.peers.filter((peer) => peer.nodeId !== nodeId);
      await Promise.all(others.map((peer) => this.#ask(peer, signal)));
    }
  }

  async #ask(peer: MasterPeer, signal: AbortSignal): Promise<void> {
    const { ask, leadership, clock } = this.#options;
    const expired = (): DroverError => new DroverError('DRV_CHANNEL_CLOSED', 'no answer in time');
    try {
      const leader = await withDeadline({ clock, limitMs: ANSWER_MS, signal, expired }, (inner) =>
        ask(peer, inner),
      );
      if (leader !== null) leadership.heard(leader);
    } catch (error) {
      // One that is away, or of an older version, says nothing.
      if (!(error instanceof DroverError) && !signal.aborted) throw error;
    }
  }
}
