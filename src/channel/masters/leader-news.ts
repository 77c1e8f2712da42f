/**
 * Asks the other masters who leads while etcd is silent for this one. A leader that is cut off from etcd learns that its
 * term is over, so that its nodes go to the next one. A master that follows learns where to forward requests.
 */
import { z } from 'zod';
import type { Leader, Leadership, MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import { withDeadline } from '../../loop/deadline.js';
import type { Part } from '../../loop/lifecycle.js';
import { pause } from '../../loop/pause.js';
import { DroverError } from '../../model/errors.js';
import type { Logger } from '../../telemetry/logger.js';
import type { MasterCalls } from './master-calls.js';
import type { MasterDesk } from './master-desk.js';

const LEADER = 'leader';
const ASK_EVERY_MS = 1000;
const ANSWER_MS = 2000;
const leaderSchema = z
  .object({ nodeId: z.string(), clusterAddress: z.string(), epoch: z.int().min(0), since: z.number() })
  .nullable();

/** What this master knows of who leads, and what it takes from others. `Candidate` is one. */
export interface Listener extends Pick<Leadership, 'leader' | 'masters'> {
  isSilent(): boolean;
  hear(leader: Leader): void;
}

export interface LeaderNewsOptions {
  readonly nodeId: string;
  readonly listener: Listener;
  readonly calls: Pick<MasterCalls, 'ask'>;
  readonly desk: Pick<MasterDesk, 'on'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'debug'>;
}

export class LeaderNews implements Part {
  readonly #options: LeaderNewsOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: LeaderNewsOptions) {
    this.#options = options;
    options.desk.on(LEADER, () => options.listener.leader());
  }

  start(): void {
    this.#running ??= this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { listener, clock, nodeId } = this.#options;
    while (!signal.aborted) {
      await pause(clock, ASK_EVERY_MS, signal);
      if (!listener.isSilent()) continue;
      const others = listener.masters().filter((peer) => peer.nodeId !== nodeId);
      await Promise.all(others.map((peer) => this.#ask(peer, signal)));
    }
  }

  /** Does not throw: a master that does not answer knows nothing. */
  async #ask(peer: MasterPeer, signal: AbortSignal): Promise<void> {
    const { calls, clock, listener, logger } = this.#options;
    const expired = (): DroverError =>
      new DroverError('DRV_CHANNEL_CLOSED', `master ${peer.nodeId} did not answer in time`);
    try {
      const answer = await withDeadline({ clock, limitMs: ANSWER_MS, signal, expired }, (inner) =>
        calls.ask(peer, LEADER, {}, inner),
      );
      const leader = leaderSchema.parse(answer);
      if (leader !== null) listener.hear(leader);
    } catch (error) {
      logger.debug({ err: error }, `master ${peer.nodeId} was not asked who leads`);
    }
  }
}
