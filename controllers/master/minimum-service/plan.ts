/**
 * The minimum-service controller's decision: how many instances of one configuration to create now. It ends instances
 * only above the configuration's maximum, or those of a lowered minimum with `"surplus": "remove"`.
 */

import { backoffMs } from '../../../src/loop/backoff.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { InstanceRecord, InstanceState, Maker, Players } from '../../../src/model/instance.js';
import { byAge } from '../../../src/model/instance.js';
import type { NodeCondition } from '../../../src/model/node.js';
import { MAX_OPERATIONS } from '../../../src/store/store.js';
import { type EndStep, type LeavingInstance, type Patience, planEnds, surplusOf } from './surplus.js';

/** A pass is one transaction, which also checks the configuration and each original. */
const MOST_PER_PASS = MAX_OPERATIONS - 1;
/** Creations of one pass while new instances keep failing; the next pass then waits. */
const MOST_WHILE_FAILING = 20;
const DELAY = { baseMs: 1000, maxMs: 60_000 };
/** An instance that is created and lives this long did not fail young. */
export const YOUNG_MS = 60_000;

/**
 * ```
 *  run ----> finished    it ended by itself, and its restart policy does not start it again
 *   |  \---> quit        the program reported itself STOPPED
 *   \------> stop        somebody asked for that; as after each of the three, a start leads back to run
 *  any ----> remove      for good
 * ```
 */
type CountedPhase = 'run' | 'finished' | 'quit' | 'stop' | 'remove';

export interface CountedInstance {
  readonly id: string;
  readonly phase: CountedPhase;
  readonly state: InstanceState;
  readonly static: boolean;
  readonly createdAt: number;
  /**
   * Whether the record shows the present state. `awaits-report`: the node was lost, is back, and has not reported the
   * instance. `set-aside`: the instance counts, but its record cannot be written.
   */
  readonly knowledge: 'present' | 'awaits-report' | 'set-aside';
  /** Condition of the node that holds it; null: not placed, or its node is unknown. */
  readonly node: NodeCondition | null;
  /** True when the node is being drained: the drain then resolves its pairs of original and replacement. */
  readonly isDraining: boolean;
  readonly maker: Maker;
  readonly players: Players;
  /** The instance that it was made to replace, or null. */
  readonly replaces: string | null;
  /** It ends or cannot be started again and again. It holds its slot all the same: another one would fail likewise. */
  readonly keepsFailing?: true;
}

/** The latest creations, also those by moves. They decide the delay while new instances keep failing. */
export interface CreationHistory {
  /** The created instances that have not failed yet, in order of creation. `at`: monotonic ms. Never empty. */
  readonly made: readonly { readonly id: string; readonly at: number }[];
  /** How many creations in a row came after an instance had failed young. */
  readonly streak: number;
}

/**
 * The facts that decide the delay of the next creation. An instance of the history that is not among `instances` has
 * not failed.
 */
export interface CreationFacts {
  /** The instances that are not ordinary (`isOrdinary`). */
  readonly instances: readonly CountedInstance[];
  readonly history: CreationHistory | undefined;
}

export interface ServiceFacts extends CreationFacts {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number | undefined;
  /** The patience with players of instances beyond a lowered minimum. Absent: these instances stay. */
  readonly surplus?: Patience;
  /** The time until a window may open or end. Absent: there are no windows. */
  readonly windowsChangeInMs?: number;
  /** How many ordinary instances (`isOrdinary`) there are beside `instances`. */
  readonly ordinary: number;
}

export type ServiceStep =
  | {
      readonly do: 'create';
      readonly name: string;
      readonly count: number;
      /** The instances on lost nodes that the new ones replace; at most `count`. */
      readonly replaces: readonly string[];
      readonly streak: number;
    }
  /** Ends an instance above the maximum. A static instance is stopped, any other is removed. */
  | { readonly do: 'stop' | 'remove'; readonly name: string; readonly id: string }
  /** Removes an instance beyond a lowered minimum. */
  | EndStep<'shed'>;

export function plan(facts: ServiceFacts, now: number): Plan<ServiceStep> {
  const surplus = planSurplus(facts);
  if (surplus.length > 0) return { steps: surplus };
  // Create nothing while instances beyond a lowered minimum wait for their players: the minimum is met then.
  const leaving = surplusIn(facts);
  if (leaving.length > 0) return planEnds('shed', facts.name, leaving);
  const missing = missingOf(facts);
  if (missing <= 0) return { steps: [] };
  const { streak, waitMs } = creationDelay(facts, now);
  if (waitMs > 0) return { steps: [], recheckInMs: waitMs };
  const originals = lostOriginals(facts.instances);
  const count = Math.min(missing, streak > 0 ? MOST_WHILE_FAILING : mostPerPass(originals.length));
  const replaces = originals.slice(0, count);
  return { steps: [{ do: 'create', name: facts.name, count, replaces, streak }] };
}

/** How many instances the configuration lacks in all; 0 or less: none. */
export function missingOf(facts: ServiceFacts): number {
  return Math.min(facts.minimum, facts.maximum ?? facts.minimum) - countOf(facts);
}

/**
 * The instances beyond a lowered minimum, where the configuration wants them removed. Above the minimum, `instances`
 * has every instance.
 */
export function surplusIn({ minimum, surplus: patience, instances }: ServiceFacts): LeavingInstance[] {
  if (patience === undefined) return [];
  const standing = instances.filter((one) => isWanted(one) && countsTowardsMinimum(one));
  return surplusOf(standing, minimum, patience);
}

/**
 * The most creations in a transaction with so many originals: the check of each original takes the room of
 * one creation.
 */
function mostPerPass(originals: number): number {
  return Math.max(MOST_PER_PASS - originals, Math.floor(MOST_PER_PASS / 2));
}

/** How many instances count towards the minimum. */
export function countOf({ ordinary, instances }: Pick<ServiceFacts, 'ordinary' | 'instances'>): number {
  return ordinary + instances.filter(countsTowardsMinimum).length;
}

/** How many instances hold a slot of the minimum and do not fail again and again. */
export function workingOf({ ordinary, instances }: Pick<ServiceFacts, 'ordinary' | 'instances'>): number {
  const works = (one: CountedInstance): boolean => one.keepsFailing !== true && countsTowardsMinimum(one);
  return ordinary + instances.filter(works).length;
}

/**
 * True when the record alone shows that the instance counts, whatever becomes of its node. Such instances are
 * counted without a look at each, even thousands.
 */
export function isOrdinary({ desired, status, replaces, job }: InstanceRecord): boolean {
  if (job !== undefined || desired.goal !== 'run' || replaces !== undefined || status.keepsFailing === true)
    return false;
  return status.state === 'CREATING' || status.state === 'ONLINE';
}

/**
 * True when an instance counts towards the minimum: it is wanted, and CREATING or ONLINE. An OFFLINE instance
 * counts unless its node is lost, because the node restarts it in place. A static instance counts unless it
 * is being removed, because only its node has its data. A finished instance counts, too: a new one in its
 * place would be the restart that its policy forbids.
 */
export function countsTowardsMinimum(instance: CountedInstance): boolean {
  const { phase, state, node } = instance;
  switch (phase) {
    case 'remove':
      return false;
    case 'stop':
    case 'quit':
      return instance.static;
    case 'run':
    case 'finished':
      if (state === 'STOPPED') return instance.static || phase === 'finished';
      // An instance that no node holds waits for a place, whatever state a client reported.
      return state !== 'OFFLINE' || instance.static || node !== 'lost';
    default:
      return phase satisfies never;
  }
}

function isWanted({ phase }: CountedInstance): boolean {
  return phase === 'run' || phase === 'finished';
}

/**
 * The instances on lost nodes that new instances replace: those that no other instance stands in for. If an
 * original and its replacement are both lost, the original is listed. Instances that the enforcer made come
 * first: only these give way to a replacement with players.
 */
function lostOriginals(instances: readonly CountedInstance[]): string[] {
  const lost = instances.filter(
    (one) =>
      isWanted(one) && one.node === 'lost' && !countsTowardsMinimum(one) && one.knowledge !== 'set-aside',
  );
  const lostIds = new Set(lost.map(({ id }) => id));
  const replaced = new Set(instances.filter(countsTowardsMinimum).map(({ replaces }) => replaces));
  const isClients = ({ maker }: CountedInstance): number => (maker === 'client' ? 1 : 0);
  return lost
    .filter(({ id, replaces }) => !replaced.has(id) && !lostIds.has(replaces ?? ''))
    .toSorted((a, b) => isClients(a) - isClients(b) || byAge(a, b))
    .map(({ id }) => id);
}

/**
 * Ends instances above the maximum. Instances without players end first; among these, what the enforcer made;
 * then the youngest. Above the maximum, `instances` has every instance. These do not count:
 * - instances on a lost node that are not static: they were replaced;
 * - instances whose node is back and has not reported them: they may have ended;
 * - an unused replacement whose original is there and not being drained: the replacement controller removes
 *   one of the two.
 */
function planSurplus({ name, maximum, instances }: ServiceFacts): ServiceStep[] {
  if (maximum === undefined) return [];
  const standing = instances.filter((one) => isWanted(one) && countsTowardsMinimum(one));
  const ids = new Set(standing.filter(({ isDraining }) => !isDraining).map(({ id }) => id));
  return standing
    .filter(
      ({ knowledge, replaces, players }) =>
        knowledge !== 'awaits-report' && (players === 'some' || !ids.has(replaces ?? '')),
    )
    .toSorted((a, b) => rankToKeep(a) - rankToKeep(b) || byAge(a, b))
    .slice(maximum)
    .filter(({ knowledge }) => knowledge !== 'set-aside')
    .map((one) => ({ do: one.static ? 'stop' : 'remove', name, id: one.id }));
}

function rankToKeep({ players, maker, knowledge }: CountedInstance): number {
  if (knowledge === 'set-aside') return -1;
  return (players === 'some' ? 0 : 2) + (maker === 'client' ? 0 : 1);
}

/** How long the next creation waits, and how many creations in a row followed on failures. */
export function creationDelay(facts: CreationFacts, now: number): { streak: number; waitMs: number } {
  const streak = nextStreak(facts, now);
  return { streak, waitMs: (facts.history?.made.at(-1)?.at ?? now) + delayMs(streak) - now };
}

/**
 * The history after one more creation. It leaves out the instances that failed: the streak has counted them,
 * so they do not delay later creations again.
 */
export function withCreated(
  facts: CreationFacts,
  ids: readonly string[],
  streak: number,
  now: number,
): CreationHistory {
  const failed = failedOf(facts);
  const made = recentOf(facts.history, now).filter(({ id }) => !failed.has(id));
  return { made: [...made, ...ids.map((id) => ({ id, at: now }))], streak };
}

/** The streak of the next creation: one more when an instance that was created lately has failed. */
function nextStreak({ history, instances }: CreationFacts, now: number): number {
  const recent = recentOf(history, now);
  if (history === undefined || recent.length === 0) return 0;
  const failed = failedOf({ instances });
  return failed.size > 0 && recent.some(({ id }) => failed.has(id)) ? history.streak + 1 : history.streak;
}

function failedOf({ instances }: Pick<CreationFacts, 'instances'>): ReadonlySet<string> {
  return new Set(instances.filter(hasFailed).map(({ id }) => id));
}

/**
 * The created instances that are younger than YOUNG_MS plus the present delay. So a failure while the next
 * creation waits counts, too.
 */
function recentOf(history: CreationHistory | undefined, now: number): CreationHistory['made'] {
  if (history === undefined) return [];
  const countsMs = YOUNG_MS + delayMs(history.streak);
  // Search from the oldest: `made` is in order of creation.
  const first = history.made.findIndex(({ at }) => now - at < countsMs);
  if (first === 0) return history.made;
  return first === -1 ? [] : history.made.slice(first);
}

/**
 * True when an instance has failed: it reported itself STOPPED, or it is wanted and no longer counts. A
 * static one that reported itself STOPPED still counts, but cannot stand in for an instance that a drain
 * moves. An instance that a client stopped or deleted has not failed.
 */
function hasFailed(instance: CountedInstance): boolean {
  return instance.phase === 'quit' || (isWanted(instance) && !countsTowardsMinimum(instance));
}

function delayMs(streak: number): number {
  return streak === 0 ? 0 : backoffMs(streak - 1, DELAY);
}
