/**
 * The minimum-service controller's decision: how many instances of one configuration to create now. It stops
 * instances only above a maximum that the configuration sets.
 */

import type { Plan } from '../../../src/loop/reconciler.js';
import type { Goal, InstanceState } from '../../../src/model/instance.js';
import type { NodeCondition } from '../../../src/model/node.js';

/** At most this many creations of one configuration in one pass. */
const MOST_PER_PASS = 20;
const DELAY_BASE_MS = 1000;
const DELAY_MAX_MS = 60_000;
/** An instance that is created and lives this long did not fail young. */
export const YOUNG_MS = 60_000;

export interface CountedInstance {
  readonly id: string;
  readonly goal: Goal;
  readonly state: InstanceState;
  readonly static: boolean;
  readonly createdAt: number;
  /** The instance ended by itself, and its restart policy does not start it again. */
  readonly hasFinished: boolean;
  /** Its record is set aside: it holds its place in the service, and nothing can be written of it. */
  readonly isSetAside?: boolean;
  /** Condition of the node that holds it; null: not placed, or its node is unknown. */
  readonly node: NodeCondition | null;
}

/** The last creations, for the delay while new instances keep failing. */
export interface CreationHistory {
  /** Monotonic ms of the last creation. */
  readonly at: number;
  readonly ids: readonly string[];
  /** Passes in a row that replaced instances which had failed young. */
  readonly streak: number;
}

export interface ServiceFacts {
  readonly name: string;
  readonly minimum: number;
  readonly maximum: number | undefined;
  readonly instances: readonly CountedInstance[];
  readonly history: CreationHistory | undefined;
}

export type ServiceStep =
  | { readonly do: 'create'; readonly name: string; readonly count: number; readonly streak: number }
  | { readonly do: 'stop'; readonly name: string; readonly id: string };

export function plan(facts: ServiceFacts, now: number): Plan<ServiceStep> {
  const counted = facts.instances.filter(countsTowardsMinimum).length;
  const surplus = planSurplus(facts);
  if (surplus.length > 0) return { steps: surplus };
  const missing = Math.min(facts.minimum, facts.maximum ?? facts.minimum) - counted;
  if (missing <= 0) return { steps: [] };
  const { streak, waitMs } = creationDelay(facts, now);
  if (waitMs > 0) return { steps: [], recheckInMs: waitMs };
  return { steps: [{ do: 'create', name: facts.name, count: Math.min(missing, MOST_PER_PASS), streak }] };
}

/**
 * Whether an instance counts. It does when it is wanted and CREATING or ONLINE, and when it is OFFLINE but not on a
 * lost node, which restarts it in place.
 * A static instance counts unless it is being removed: its data is on its node and nowhere else. A finished one
 * counts, too: another one in its place would be the restart that its policy forbids.
 */
export function countsTowardsMinimum(instance: CountedInstance): boolean {
  if (instance.goal === 'remove') return false;
  if (instance.goal === 'stop') return instance.static;
  if (instance.state === 'STOPPED') return instance.static || instance.hasFinished;
  // Without a node the instance waits for one, whatever state a client reported.
  return instance.state !== 'OFFLINE' || instance.static || instance.node !== 'lost';
}

/**
 * Stops the youngest above the maximum. Instances on a lost node do not count: they were replaced. When the node
 * returns, all count again, and the youngest of all are stopped.
 */
function planSurplus(facts: ServiceFacts): ServiceStep[] {
  const { maximum } = facts;
  if (maximum === undefined) return [];
  return facts.instances
    .filter((instance) => instance.goal === 'run' && countsTowardsMinimum(instance))
    .toSorted((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    .slice(maximum)
    .filter(({ isSetAside }) => isSetAside !== true)
    .map(({ id }) => ({ do: 'stop', name: facts.name, id }));
}

/** How long the next creation waits, and how many passes in a row created instances that failed young. */
export function creationDelay(facts: ServiceFacts, now: number): { streak: number; waitMs: number } {
  const streak = nextStreak(facts, now);
  return { streak, waitMs: (facts.history?.at ?? now) + delayMs(streak) - now };
}

/** The streak grows when an instance of the last creation no longer counts although it is young. */
function nextStreak({ history, instances }: ServiceFacts, now: number): number {
  if (history === undefined || now - history.at >= YOUNG_MS + delayMs(history.streak)) return 0;
  const counted = new Set(instances.filter(countsTowardsMinimum).map(({ id }) => id));
  return history.ids.every((id) => counted.has(id)) ? history.streak : history.streak + 1;
}

function delayMs(streak: number): number {
  return streak === 0 ? 0 : Math.min(DELAY_BASE_MS * 2 ** (streak - 1), DELAY_MAX_MS);
}
