/**
 * Looks whether instances that have been ready are still alive. The supervisor ends an instance whose looks fail again
 * and again, and starts it anew, unless most instances of its configuration here fail at once.
 */
import { askOfPrograms } from '../../../src/channel/services/usage-day.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { WakingClock } from '../../../src/loop/waking-clock.js';
import { DroverError } from '../../../src/model/errors.js';
import { notAliveText, type Liveness as Wanted } from '../../../src/model/liveness.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { givenUpFor, type Handle } from '../../../src/node/handle.js';
import type { Finding } from '../../../src/runtime/readiness/port-check.js';
import { TRY_MS, tryPort, withinTime } from '../../../src/runtime/readiness/readiness-check.js';
import type { NodeParts } from '../parts.js';
import type { SupervisorFacts } from './goal.js';
import { awaitedReadiness } from './readiness-plan.js';
import type { SupervisorPlan } from './steps.js';

/** A failed look counts for nothing where this node lost so much time during it. */
const LAG_MS = 50;
/** How long instances share one answer of the master. */
const SHARED_MS = 1000;

interface Fault {
  /** The fault, in words that clients may read. */
  readonly message: string;
  /** True when most instances of the configuration fail at once, so that the cause is outside of them. */
  readonly isShared: boolean;
}

export interface LifeFacts {
  /** When to look next, monotonic ms. */
  readonly dueAt: number;
  readonly isLooking: boolean;
  /** Null: the instance counts as alive. */
  readonly fault: Fault | null;
}

/** The looks at a process that is up and wanted; they begin once it is ready. */
export function planLiveness(facts: SupervisorFacts, handle: Handle, now: number): SupervisorPlan {
  const liveness = facts.desired?.configuration.liveness;
  if (liveness === undefined || awaitedReadiness(facts, handle) !== undefined) return { steps: [] };
  const { life } = facts;
  const { run } = handle;
  if (life?.fault?.isShared === false && liveness.do === 'restart')
    return { steps: [{ do: 'give-up', run, cause: life.fault.message }] };
  if (life?.isLooking === true) return { steps: [] };
  const leftMs = life === null ? 0 : life.dueAt - now;
  return leftMs <= 0 ? { steps: [{ do: 'look-at-life', run }] } : { steps: [], recheckInMs: leftMs };
}

/** Why a process that is up is not alive; null: it counts as alive. */
export function faultOf({ life }: Pick<SupervisorFacts, 'life'>, handle: Handle): Fault | null {
  const cause = givenUpFor(handle);
  return cause === null ? (life?.fault ?? null) : { message: cause, isShared: false };
}

interface Life extends LifeFacts {
  readonly run: number;
  readonly configurationName: string;
  readonly wanted: Wanted;
  dueAt: number;
  isLooking: boolean;
  fault: Fault | null;
  /** The beginning of the last look that counts, monotonic ms. */
  lookedAt: number;
  /** How many looks in a row have failed; 0: the last look succeeded. */
  failures: number;
  /** The beginning of the first look of these, or of an earlier row, monotonic ms; null: none has failed. */
  failingSince: number | null;
  /** Silence counts from here, on the waking clock. */
  heardAt: number;
  nextLine: number;
}

export class Liveness {
  readonly #parts: NodeParts;
  readonly #waking: WakingClock;
  readonly #lives = new Map<string, Life>();
  readonly #looks = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #asked: { readonly at: number; readonly answer: Promise<ReadonlyMap<string, number>> } | undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
    this.#waking = new WakingClock(parts.clock);
  }

  /** The life of the present run, as its configuration asks for now; null: it is not watched yet. */
  of(id: string): LifeFacts | null {
    const life = this.#lives.get(id);
    return life !== undefined && this.#isPresent(id, life) ? life : null;
  }

  forget(id: string): void {
    if (this.#lives.delete(id) && this.#lives.size === 0) this.#waking.stop();
  }

  /** Begins to watch the run, or begins the next look at it. Throws Conflict when nothing is to be looked at. */
  look(id: string, run: number): void {
    const { desired, handles, clock } = this.#parts;
    const wanted = desired.get(id)?.configuration.liveness;
    const handle = handles.get(id);
    if (wanted === undefined || handle?.run !== run || handle.phase.is !== 'up')
      throw new Conflict(`instance ${id} changed before it was looked whether it is alive`);
    const lookedAt = clock.monotonic();
    const dueAt = lookedAt + wanted.intervalSeconds * 1000;
    const life = this.#lives.get(id);
    if (life !== undefined && this.#isPresent(id, life)) {
      Object.assign(life, { isLooking: true, dueAt });
      const look = this.#look(id, life).finally(() => this.#looks.delete(look));
      this.#looks.add(look);
      return;
    }
    if (this.#lives.size === 0) this.#waking.start();
    const { configurationName } = handle;
    const none = { isLooking: false, fault: null, failures: 0, failingSince: null, nextLine: 0 };
    const heardAt = this.#waking.now();
    this.#lives.set(id, { ...none, run, configurationName, wanted, dueAt, lookedAt, heardAt });
  }

  /** Ends all looks, and waits until each has closed its sockets. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#waking.stop();
    await Promise.all(this.#looks);
  }

  #isPresent(id: string, { run, wanted }: Life): boolean {
    const { desired, handles } = this.#parts;
    const handle = handles.get(id);
    return (
      handle?.run === run &&
      handle.phase.is === 'up' &&
      isSameValue(desired.get(id)?.configuration.liveness, wanted)
    );
  }

  async #look(id: string, life: Life): Promise<void> {
    const { clock, handles } = this.#parts;
    const begunAt = clock.monotonic();
    const awakeAt = this.#waking.now();
    const finding = await this.#find(id, life).catch(() => undefined);
    const lostMs = clock.monotonic() - begunAt - (this.#waking.now() - awakeAt);
    life.isLooking = false;
    if (this.#stopping.signal.aborted || !this.#isPresent(id, life)) return;
    const counts = finding === null || (finding !== undefined && lostMs <= LAG_MS);
    if (counts) {
      life.lookedAt = begunAt;
      if (finding !== null && life.failures === 0) life.failingSince = begunAt;
      life.failures = finding === null ? 0 : life.failures + 1;
      this.#judge(id, life, finding);
    }
    // The plan looks again later.
    handles.change(id, {});
  }

  /** The result of one look: null when the instance is alive; undefined: it cannot be told. */
  async #find(id: string, life: Life): Promise<Finding | undefined> {
    const { desired, installation, clock } = this.#parts;
    const { logSilenceSeconds, heartbeatSeconds } = life.wanted;
    if (logSilenceSeconds !== undefined) {
      const nextLine = await installation.nextLogLine(id);
      if (nextLine !== life.nextLine) Object.assign(life, { nextLine, heardAt: this.#waking.now() });
      return this.#silenceOf(life) >= logSilenceSeconds * 1000 ? '' : null;
    }
    if (heartbeatSeconds !== undefined) {
      const said = (await this.#silences().catch(() => undefined))?.get(id);
      // Nobody could report anything while the master was away.
      if (said === undefined) life.heardAt = this.#waking.now();
      if (said === undefined) return undefined;
      return Math.min(said, this.#silenceOf(life)) >= heartbeatSeconds * 1000 ? '' : null;
    }
    const { port = null, hostAddress = '' } = desired.get(id)?.assignment ?? {};
    return tryPort(life.wanted, { port, hostAddress }, clock, this.#stopping.signal);
  }

  #silenceOf({ heardAt }: Life): number {
    return this.#waking.now() - heardAt;
  }

  /** The time since the last `PUT state` of instances, ms. Rejects when the master does not tell. */
  #silences(): Promise<ReadonlyMap<string, number>> {
    const { clock, calls: callsOf } = this.#parts;
    const at = clock.monotonic();
    if (this.#asked === undefined || at - this.#asked.at >= SHARED_MS) {
      const ids = [...this.#lives].flatMap(([id, { wanted }]) =>
        wanted.heartbeatSeconds === undefined ? [] : id,
      );
      const answer = withinTime(clock, this.#stopping.signal, async (ended) => {
        const calls = callsOf();
        if (calls === undefined) throw new DroverError('DRV_CHANNEL_CALL_FAILED', 'no master is connected');
        return askOfPrograms(calls, 'silence-of', ids, ended);
      });
      this.#asked = { at, answer };
    }
    return this.#asked.answer;
  }

  /** Judges a life after a look. An instance is given up only once each other one was looked at since it began to fail. */
  #judge(id: string, life: Life, finding: Finding): void {
    const { desired, logger } = this.#parts;
    const { wanted, failures, failingSince, configurationName, fault } = life;
    const fields = { instance: id, configuration: configurationName };
    if (finding === null || failingSince === null) {
      life.fault = null;
      if (fault !== null) logger.info(fields, `${id} (${configurationName}) is alive again`);
      return;
    }
    if (failures < wanted.failures) return;
    const peers = [...this.#lives].flatMap(([peer, one]) =>
      one.configurationName === configurationName && this.#isPresent(peer, one) ? one : [],
    );
    if (peers.some(({ lookedAt }) => lookedAt < failingSince)) return;
    const apartMs = wanted.intervalSeconds * 1000 + TRY_MS;
    const isMost = (some: readonly Life[]): boolean => some.length > 1 && some.length * 2 > peers.length;
    const near = peers.filter((one) => Math.abs((one.failingSince ?? Infinity) - failingSince) <= apartMs);
    const isShared = isMost(near.filter((one) => one.failures > 0));
    // The cause outside has ended for most of them: this instance has its whole time anew.
    if (!isShared && isMost(near)) life.failures = 0;
    if (life.failures === 0) return;
    const why = notAliveText(wanted, desired.get(id)?.assignment.port ?? null, finding);
    const left = isShared
      ? '; nothing is restarted, because most instances of it here fail at once: the cause is probably outside of them'
      : wanted.do === 'report'
        ? '; nothing is restarted, because liveness.do is report'
        : '';
    life.fault = { message: why + left, isShared };
    if (fault?.message !== life.fault.message)
      logger.warn(fields, `${id} (${configurationName}) is ${life.fault.message}`);
  }
}
