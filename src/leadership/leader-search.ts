/**
 * Asks the other masters who leads while etcd does not answer this master, which cannot learn of a new leader
 * otherwise. So a leader whom only etcd cannot reach ends its term, and its nodes go to the new leader before they
 * count as lost.
 */
import type { Clock } from '../loop/clock.js';
import { withDeadline } from '../loop/deadline.js';
import type { Part } from '../loop/lifecycle.js';
import { pause } from '../loop/pause.js';
import { channelClosed, DroverError } from '../model/errors.js';
import type { AskingLeadership } from './candidate.js';
import type { Leader, MasterPeer } from './leadership.js';

/** The pause between questions. The nodes have `nodeTimeoutMs` (6 s) from the new leader's election to find it. */
const ASK_EVERY_MS = 1000;
const ANSWER_MS = 2000;

interface KnownPeers {
  /** Reads the list of masters from disk. Throws DRV_NODE_ROOT_UNUSABLE. */
  open(): Promise<void>;
  /** Resolves when the learned masters are on disk, or could not be written. */
  written(): Promise<void>;
  /** All masters, including those that were up earlier. */
  readonly peers: readonly MasterPeer[];
  /** Adds masters that are up. An empty list changes nothing. */
  learn(masters: readonly MasterPeer[]): void;
}

interface LeaderSearchOptions {
  readonly leadership: AskingLeadership;
  /** The id of this master. */
  readonly nodeId: string;
  /**
   * Keeps all masters that were ever up, over restarts, too: a master that was away at our last look may lead
   * by now.
   */
  readonly known: KnownPeers;
  /** Asks another master who leads, as far as it knows. Throws DroverErrors. */
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
    const expired = (): DroverError => channelClosed('no answer in time');
    try {
      const leader = await withDeadline({ clock, limitMs: ANSWER_MS, signal, expired }, (inner) =>
        ask(peer, inner),
      );
      if (leader !== null) leadership.heard(leader);
    } catch (error) {
      // Ignore a DroverError: it only says that this master gives no answer now.
      if (!(error instanceof DroverError) && !signal.aborted) throw error;
    }
  }
}
