/**
 * Looks whether instances that have been ready are still alive, and gives those up whose looks fail again and again,
 * unless most instances of their configuration here fail at once. The plan then ends what is given up.
 */
import { askOfPrograms } from '../../../src/channel/services/usage-day.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { notAliveText, type Liveness as Wanted } from '../../../src/model/liveness.js';
import { isSameValue } from '../../../src/model/plain/same-value.js';
import { fieldsOf, givenUpFor, type Handle, nameOf, stoppingOf } from '../../../src/node/handle.js';
import type { Finding } from '../../../src/runtime/readiness/port-check.js';
import { TRY_MS, tryPort, withinTime } from '../../../src/runtime/readiness/readiness-check.js';
import type { NodeParts } from '../parts.js';
import type { SupervisorFacts } from './goal.js';
import { awaitedReadiness } from './readiness-plan.js';
import type { SupervisorPlan } from './steps.js';

/** A look that is so late, or takes so much longer than it may, shows that this node itself stood still. */
const LAG_MS = 1000;
/** How long instances share one answer of the master. */
const SHARED_MS = 1000;
const LEFT = '; nothing is restarted, because ';
const OUTSIDE = `${LEFT}most instances of it here fail at once: the cause is probably outside of them`;
const REPORTED = `${LEFT}liveness.do is report`;

interface Fault {
  /** The fault, in words that clients may read. */
  readonly message: string;
  /** True when most instances of the configuration fail at once, so that the cause is outside of them. */
  readonly isShared: boolean;
}

interface Life {
  readonly run: number;
  readonly wanted: Wanted;
  /** When to look next, monotonic ms, as are all times here. */
  dueAt: number;
  isLooking: boolean;
  /** Null: the instance counts as alive. */
  fault: Fault | null;
  /** The beginning of the last look. */
  lookedAt: number;
  /** How many looks in a row have failed; 0: the last look succeeded. */
  failures: number;
  /** The beginning of the first look of these, or of an earlier row; infinite: none has failed. */
  failingSince: number;
  /** Silence counts from here. */
  heardAt: number;
  nextLine: number;
}
export type LifeFacts = Readonly<Pick<Life, 'dueAt' | 'isLooking' | 'fault'>>;

/** The looks at a process that is up and wanted; they begin once it is ready. The last of them may end the run. */
export function planLiveness(facts: SupervisorFacts, handle: Handle, now: number): SupervisorPlan {
  const { desired, life } = facts;
  const { run } = handle;
  const liveness = desired?.configuration.liveness;
  if (life?.fault?.isShared === false && liveness?.do === 'restart')
    return { steps: [{ do: 'give-up', run, cause: life.fault.message }] };
  if (liveness === undefined || life?.isLooking === true || awaitedReadiness(facts, handle) !== undefined)
    return { steps: [] };
  const leftMs = life === null ? 0 : life.dueAt - now;
  return leftMs <= 0 ? { steps: [{ do: 'look-at-life', run }] } : { steps: [], recheckInMs: leftMs };
}

/** Why a process that is up is not alive; null: it counts as alive. */
export function faultOf({ life }: Pick<SupervisorFacts, 'life'>, handle: Handle): Fault | null {
  const cause = givenUpFor(handle);
  return cause === null ? (life?.fault ?? null) : { message: cause, isShared: false };
}

export class Liveness {
  readonly #parts: NodeParts;
  readonly #lives = new Map<string, Life>();
  readonly #stopping = new AbortController();
  #asked: { readonly at: number; readonly silences: Promise<ReadonlyMap<string, number>> } | undefined;

  constructor(parts: NodeParts) {
    this.#parts = parts;
  }

  /** The life of the present run, as its configuration asks for now; null: it is not watched yet. */
  of(id: string): Life | null {
    const life = this.#lives.get(id);
    const handle = this.#parts.handles.get(id);
    if (life === undefined || handle?.run !== life.run || handle.phase.is !== 'up') return null;
    return isSameValue(this.#parts.desired.get(id)?.configuration.liveness, life.wanted) ? life : null;
  }

  forget(id: string): void {
    this.#lives.delete(id);
  }

  /** Begins to watch the run, or begins the next look at it. Throws Conflict when the run is over. */
  look(id: string, run: number): void {
    const { desired, handles, clock } = this.#parts;
    handles.requireUp(id, run);
    const wanted = desired.get(id)?.configuration.liveness;
    if (wanted === undefined) return;
    const now = clock.monotonic();
    const dueAt = now + wanted.intervalSeconds * 1000;
    const life = this.of(id);
    if (life === null) {
      const none = { isLooking: false, fault: null, failures: 0, failingSince: Infinity, nextLine: 0 };
      this.#lives.set(id, { ...none, run, wanted, dueAt, lookedAt: now, heardAt: now });
      return;
    }
    if (now - life.dueAt > LAG_MS) life.heardAt = now;
    Object.assign(life, { isLooking: true, dueAt });
    void this.#look(id, life, now);
  }

  /** Ends all looks. Idempotent. */
  stop(): void {
    this.#stopping.abort();
  }

  async #look(id: string, life: Life, begunAt: number): Promise<void> {
    const { clock, handles, logger } = this.#parts;
    const finding = await this.#find(id, life, begunAt).catch(() => undefined);
    const now = clock.monotonic();
    const isLate = now - begunAt > TRY_MS + LAG_MS;
    Object.assign(life, { isLooking: false, lookedAt: begunAt, dueAt: Math.max(life.dueAt, now) });
    const handle = handles.get(id);
    if (this.#stopping.signal.aborted || handle === undefined || this.of(id) !== life) return;
    if (finding === null) {
      if (life.fault !== null) logger.info(fieldsOf(handle), `${nameOf(handle)} is alive again`);
      Object.assign(life, { failures: 0, fault: null });
    } else if (finding !== undefined && !isLate && stoppingOf(handle) === null) {
      if (life.failures === 0) life.failingSince = begunAt;
      life.failures++;
      this.#judge(handle, life, finding);
    }
    // The plan looks again later.
    handles.change(id, {});
  }

  /** The result of one look: null when the instance is alive; undefined: it cannot be told. */
  async #find(id: string, life: Life, now: number): Promise<Finding | undefined> {
    const { desired, installation, clock } = this.#parts;
    const { logSilenceSeconds, heartbeatSeconds } = life.wanted;
    if (logSilenceSeconds !== undefined) {
      const nextLine = await installation.nextLogLine(id);
      if (nextLine !== life.nextLine) Object.assign(life, { nextLine, heardAt: now });
      return now - life.heardAt >= logSilenceSeconds * 1000 ? '' : null;
    }
    if (heartbeatSeconds !== undefined) {
      const silentMs = (await this.#silences(now).catch(() => undefined))?.get(id);
      // Nobody could report anything while the master was away.
      if (silentMs === undefined) life.heardAt = now;
      if (silentMs === undefined) return undefined;
      return Math.min(silentMs, now - life.heardAt) >= heartbeatSeconds * 1000 ? '' : null;
    }
    const { port = null, ports, hostAddress = '' } = desired.get(id)?.assignment ?? {};
    return tryPort(life.wanted, { port, ports, hostAddress }, clock, this.#stopping.signal);
  }

  /** The time since the last `PUT state` of instances, ms. Rejects when the master does not tell. */
  #silences(at: number): Promise<ReadonlyMap<string, number>> {
    if (this.#asked !== undefined && at - this.#asked.at < SHARED_MS) return this.#asked.silences;
    const ids = [...this.#lives].flatMap(([id, { wanted }]) => (wanted.heartbeatSeconds ? id : []));
    const silences = withinTime(this.#parts.clock, this.#stopping.signal, async (ended) => {
      const calls = this.#parts.calls();
      if (calls === undefined) throw new Conflict('no master is connected');
      return askOfPrograms(calls, 'silence-of', ids, ended);
    });
    this.#asked = { at, silences };
    return silences;
  }

  /** Finds fault with a life only once each other one that is watched was looked at since it began to fail. */
  #judge(handle: Handle, life: Life, finding: string): void {
    const { desired, handles, logger } = this.#parts;
    const { wanted, failingSince } = life;
    const peers = [...this.#lives].flatMap(([id, one]) => {
      const other = handles.get(id);
      if (other?.configurationName !== handle.configurationName || stoppingOf(other) !== null) return [];
      return this.of(id) === one ? one : [];
    });
    if (life.failures < wanted.failures || peers.some(({ lookedAt }) => lookedAt < failingSince)) return;
    const apartMs = wanted.intervalSeconds * 1000 + TRY_MS;
    const isMost = (some: readonly Life[]): boolean => some.length > 1 && some.length * 2 > peers.length;
    const near = peers.filter((one) => Math.abs(one.failingSince - failingSince) <= apartMs);
    const isShared = isMost(near.filter(({ failures }) => failures > 0));
    // The cause outside has ended for most of them: this instance has its whole time anew.
    if (!isShared && isMost(near)) {
      life.failures = 0;
      return;
    }
    const left = isShared ? OUTSIDE : wanted.do === 'report' ? REPORTED : '';
    const message = notAliveText(wanted, desired.get(handle.id)?.assignment ?? {}, finding) + left;
    if (life.fault?.message !== message) logger.warn(fieldsOf(handle), `${nameOf(handle)} is ${message}`);
    life.fault = { message, isShared };
  }
}
