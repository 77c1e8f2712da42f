/**
 * The minimum-service controller's decision: how many instances of one configuration to create now. It ends
 * instances only above a maximum that the configuration sets, and those of a lowered minimum where it asks for that.
 */

import { backoffMs } from '../../../src/loop/backoff.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import {
  type InstanceRecord,
  type InstanceState,
  type Maker,
  mayBeUsed,
  type Players,
} from '../../../src/model/instance.js';
import type { NodeCondition } from '../../../src/model/node.js';
import { MAX_OPERATIONS } from '../../../src/store/store.js';
import { type Patience, type Surplus, surplusOf } from './surplus.js';

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
   * Whether its record shows what is. `awaits-report`: its node was lost and is back, and has not reported it yet.
   * `set-aside`: it holds its place in the service, and nothing can be written of it.
   */
  readonly knowledge: 'present' | 'awaits-report' | 'set-aside';
  /** Condition of the node that holds it; null: not placed, or its node is unknown. */
  readonly node: NodeCondition | null;
  /** Its node is being drained: the drain resolves its pairs, when it can. */
  readonly isDraining: boolean;
  readonly maker: Maker;
  readonly players: Players;
  /** The instance that it was made to replace, or null. */
  readonly replaces: string | null;
}

/** The last creations, those of moves too, for the delay while new instances keep failing. */
export interface CreationHistory {
  /** The instances that have not failed yet, in order of creation. `at`: monotonic ms. Never empty. */
  readonly made: readonly { readonly id: string; readonly at: number }[];
  /** Creations in a row after which instances had failed young. */
  readonly streak: number;
}

/** What the delay of the next creation is found from. Of the history, what is not among `instances` has not failed. */
export interface CreationFacts {
  /** The instances that must be looked at one by one. */
  readonly instances: readonly CountedInstance[];
  readonly history: CreationHistory | undefined;
}

export interface ServiceFacts extends CreationFacts {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number | undefined;
  /** How patiently the rest of a lowered minimum goes. Absent: it stays. */
  readonly surplus?: Patience;
  /** How many others count, and are wanted and no replacement. */
  readonly ordinary: number;
}

export type ServiceStep =
  | {
      readonly do: 'create';
      readonly name: string;
      readonly count: number;
      /** Instances on lost nodes in whose place they are made; at most `count`. */
      readonly replaces: readonly string[];
      readonly streak: number;
    }
  /** Ends one that is above the maximum. A static one is stopped, any other is removed. */
  | { readonly do: 'stop' | 'remove'; readonly name: string; readonly id: string }
  /** Removes one that is left of a lowered minimum, unless players have come meanwhile that are waited for. */
  | { readonly do: 'shed'; readonly name: string; readonly id: string; readonly evenUsed: boolean };

export function plan(facts: ServiceFacts, now: number): Plan<ServiceStep> {
  const surplus = planSurplus(facts);
  if (surplus.length > 0) return { steps: surplus };
  const shed = planShed(facts);
  if (shed !== undefined) return shed;
  const missing = missingOf(facts);
  if (missing <= 0) return { steps: [] };
  const { streak, waitMs } = creationDelay(facts, now);
  if (waitMs > 0) return { steps: [], recheckInMs: waitMs };
  const originals = lostOriginals(facts.instances);
  const count = Math.min(missing, streak > 0 ? MOST_WHILE_FAILING : mostPerPass(originals.length));
  const replaces = originals.slice(0, count);
  return { steps: [{ do: 'create', name: facts.name, count, replaces, streak }] };
}

/** How many are to be made in all; not above 0: none is. */
export function missingOf(facts: ServiceFacts): number {
  return Math.min(facts.minimum, facts.maximum ?? facts.minimum) - countOf(facts);
}

/** The rest of a lowered minimum, where that goes. Where there are more than the minimum, all are in `instances`. */
export function surplusIn({ minimum, surplus: patience, instances }: ServiceFacts): Surplus {
  if (patience === undefined) return { now: [], waiting: [] };
  const standing = instances.filter((one) => isWanted(one) && countsTowardsMinimum(one));
  return surplusOf(standing, minimum, patience);
}

/** Undefined: there is none. Where some wait for their players, nothing is missing. */
function planShed(facts: ServiceFacts): Plan<ServiceStep> | undefined {
  const { name, surplus: patience } = facts;
  const { now, waiting } = surplusIn(facts);
  if (patience === undefined || now.length + waiting.length === 0) return undefined;
  const steps = now.map(({ id, players }) => ({
    do: 'shed' as const,
    name,
    id,
    evenUsed: mayBeUsed(players),
  }));
  const isTimed = waiting.length > 0 && patience.leftMs !== null;
  return isTimed ? { steps, recheckInMs: patience.leftMs ?? 0 } : { steps };
}

/** As many as one transaction creates: the check of an original takes the room of one more. */
function mostPerPass(originals: number): number {
  return Math.max(MOST_PER_PASS - originals, Math.floor(MOST_PER_PASS / 2));
}

/** How many count towards the minimum. */
export function countOf({ ordinary, instances }: Pick<ServiceFacts, 'ordinary' | 'instances'>): number {
  return ordinary + instances.filter(countsTowardsMinimum).length;
}

/**
 * Whether an instance counts, whatever becomes of its node, and nothing else is to be known of it. So thousands need not
 * be looked at one by one.
 */
export function isOrdinary({ desired, status, replaces }: InstanceRecord): boolean {
  if (desired.goal !== 'run' || replaces !== undefined) return false;
  return status.state === 'CREATING' || status.state === 'ONLINE';
}

/**
 * Whether an instance counts. It does when it is wanted and CREATING or ONLINE, and when it is OFFLINE but not on a
 * lost node, which restarts it in place.
 * A static instance counts unless it is being removed: its data is on its node and nowhere else. A finished one
 * counts, too: another one in its place would be the restart that its policy forbids.
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
      // Without a node the instance waits for one, whatever state a client reported.
      return state !== 'OFFLINE' || instance.static || node !== 'lost';
    default:
      return phase satisfies never;
  }
}

function isWanted({ phase }: CountedInstance): boolean {
  return phase === 'run' || phase === 'finished';
}

/**
 * The instances on lost nodes that nothing stands in for: what is created now replaces them. Of an original and a
 * replacement that are both lost it is the original. Those that the enforcer made come first, because only these may
 * give way to a replacement that is used.
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
 * Ends what is above the maximum: first those without players, of these first what the enforcer made, the youngest
 * first. These do not count:
 * - instances on a lost node: they were replaced;
 * - instances whose node is back and has not reported them: they may have ended;
 * - an unused replacement whose original is there and not being drained: the replacement controller removes one of
 *   the two.
 * Where there are more than the maximum, every instance is among `instances`.
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

function byAge(a: CountedInstance, b: CountedInstance): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1);
}

/** How long the next creation waits, and how many creations in a row followed on failures. */
export function creationDelay(facts: CreationFacts, now: number): { streak: number; waitMs: number } {
  const streak = nextStreak(facts, now);
  return { streak, waitMs: (facts.history?.made.at(-1)?.at ?? now) + delayMs(streak) - now };
}

/**
 * The history after one more creation. The streak covers the failed instances, so they are not held against the next
 * one again.
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

/** The streak grows when one of those that were created lately failed. */
function nextStreak({ history, instances }: CreationFacts, now: number): number {
  const recent = recentOf(history, now);
  if (history === undefined || recent.length === 0) return 0;
  const failed = failedOf({ instances });
  return failed.size > 0 && recent.some(({ id }) => failed.has(id)) ? history.streak + 1 : history.streak;
}

function failedOf({ instances }: Pick<CreationFacts, 'instances'>): ReadonlySet<string> {
  return new Set(instances.filter(hasFailed).map(({ id }) => id));
}

/** The instances that would have failed young if they fail now, or did so while the next creation waited. */
function recentOf(history: CreationHistory | undefined, now: number): CreationHistory['made'] {
  if (history === undefined) return [];
  const countsMs = YOUNG_MS + delayMs(history.streak);
  // In order of creation.
  const first = history.made.findIndex(({ at }) => now - at < countsMs);
  if (first === 0) return history.made;
  return first === -1 ? [] : history.made.slice(first);
}

/**
 * The instance reported itself STOPPED, or it is wanted and does not count any more. A static one that did the former
 * still counts, and has failed: it cannot stand in for what a drain moves. What a client stopped or deleted has not.
 */
function hasFailed(instance: CountedInstance): boolean {
  return instance.phase === 'quit' || (isWanted(instance) && !countsTowardsMinimum(instance));
}

function delayMs(streak: number): number {
  return streak === 0 ? 0 : backoffMs(streak - 1, DELAY);
}
