import { pause } from '../loop/pause.js';
import { DroverError } from '../model/errors.js';
import type { Election } from '../store/etcd/election.js';
import type { Masters } from '../store/etcd/masters.js';
import type { ElectedTerm } from '../store/etcd/term.js';
import type { Ambient } from '../telemetry/ambient.js';
import type { Candidate, TermWork } from './candidate.js';
import type { Leader, MasterPeer, Term } from './leadership.js';

/** The pause after work that could not begin, so that another master has its turn. */
const AGAIN_AFTER_MS = 1000;

interface ElectedLeadershipOptions extends Ambient {
  readonly election: Election;
  readonly masters: Masters;
  readonly own: MasterPeer;
}

export class ElectedLeadership implements Candidate {
  readonly elected: Promise<void>;
  readonly #options: ElectedLeadershipOptions;
  readonly #stopping = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #work: Promise<TermWork>;
  #giveWork: (work: TermWork) => void = () => undefined;
  /** The leader that another master named while etcd was silent. */
  #heard: Leader | undefined;
  /** The term whose work this master does. */
  #serving: ElectedTerm | undefined;
  #finishing: Promise<void> | undefined;
  readonly #running: Promise<void>;

  constructor(options: ElectedLeadershipOptions) {
    this.#options = options;
    this.#work = new Promise((resolve) => {
      this.#giveWork = resolve;
    });
    options.election.onChange(() => this.changed());
    const first = options.election.campaign();
    this.elected = first.then(() => undefined);
    this.elected.catch(() => undefined);
    this.#running = this.#run(first);
  }

  leader(): Leader | null {
    const { held, latest } = this.#options.election;
    if (this.#heard !== undefined && this.#heard.epoch > latest) return this.#heard;
    if (held?.holder === undefined || (this.#isEnding && this.#serving !== undefined)) return null;
    const { nodeId, clusterAddress, since } = held.holder;
    return { nodeId, clusterAddress, since, epoch: held.epoch };
  }

  get isInTouch(): boolean {
    return this.#options.election.isInTouch;
  }

  heard(leader: Leader): void {
    const { election } = this.#options;
    if (election.isInTouch || leader.epoch <= Math.max(election.latest, this.#heard?.epoch ?? 0)) return;
    this.#heard = leader;
    election.term?.end(`master ${leader.nodeId} leads now`);
    this.changed();
  }

  isLeader(): boolean {
    return this.#serving !== undefined && !this.#isEnding;
  }

  term(): Term | null {
    return this.#serving ?? null;
  }

  masters(): readonly MasterPeer[] {
    return this.#options.masters.list();
  }

  onChange(listener: () => void): () => void {
    const subscription = (): void => listener();
    this.#listeners.add(subscription);
    return () => this.#listeners.delete(subscription);
  }

  /** Called when the list of masters has changed. */
  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  async serve(work: TermWork): Promise<void> {
    this.#giveWork(work);
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const leader = this.leader();
        const isOther = leader !== null && leader.nodeId !== this.#options.own.nodeId;
        if (!isOther && !this.isLeader() && !this.#isEnding) return;
        unsubscribe();
        resolve();
      };
      const unsubscribe = this.onChange(look);
      this.#stopping.signal.addEventListener('abort', look, { once: true });
      look();
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#finishing ??= this.#finish();
    await this.#finishing;
    await this.#options.election.stop();
    await this.#running;
  }

  get #isEnding(): boolean {
    return this.#stopping.signal.aborted;
  }

  /** Lets requests that have begun be answered; new requests wait for the next leader. */
  async #finish(): Promise<void> {
    if (this.#serving === undefined) return;
    this.changed();
    await (await this.#work).finish();
  }

  async #run(first: ReturnType<Election['campaign']>): Promise<void> {
    const { election, clock } = this.#options;
    try {
      for (let campaign = first; ; campaign = election.campaign()) {
        const { term } = await campaign;
        const work = await Promise.race([this.#work, untilOver(term)]);
        if (work === undefined) continue;
        const hasBegun = await this.#begin(work, term);
        await untilOver(term);
        this.#serving = undefined;
        this.changed();
        await work.end();
        if (!hasBegun) await pause(clock, AGAIN_AFTER_MS, this.#stopping.signal);
      }
    } catch (error) {
      if (!DroverError.is(error, 'DRV_STORE_CLOSED')) throw error;
    }
  }

  async #begin(work: TermWork, term: ElectedTerm): Promise<boolean> {
    this.#serving = term;
    const beginning = work.begin(term);
    this.changed();
    try {
      await beginning;
      this.changed();
    } catch (error) {
      if (term.signal.aborted) return true;
      this.#options.logger.error({ err: error }, 'this master cannot lead, and gives up its term');
      term.end('it could not begin');
      return false;
    }
    return true;
  }
}

async function untilOver({ signal }: Pick<Term, 'signal'>): Promise<undefined> {
  if (signal.aborted) return;
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
