/**
 * Placement's decision: which node gets an instance, at which port, or why none fits, in words and numbers. Pure; the
 * shortlist of the revision has found which node comes first.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { ownPortsOf } from '../../../src/model/fields/ports.js';
import type { InstancePlacement, PlacedTemplate } from '../../../src/model/instance.js';
import type { NoPlace } from '../../../src/state/instance-changes.js';
import { TRY_AGAIN_MS } from './busy-ports.js';
import type { Candidate } from './conditions.js';
import type { Refusal } from './shortlist.js';

export interface PlacementFacts {
  readonly id: string;
  /** Null: nothing to decide. `place`: the instance has no node. `move`: its port is busy. */
  readonly task: 'place' | 'move' | null;
  /** The node that the instance would get, with a port; undefined: none fits. */
  readonly choice: Candidate | undefined;
  /** Says why no node fits. Called only when there is no choice. */
  readonly refusal: () => Refusal;
  /** The node where the instance was placed last; null: it was never placed. */
  readonly homeId: string | null;
  /** True when a client asked for the instance, and waits for the first answer. */
  readonly isUrgent: boolean;
  readonly awaited: Awaited;
  readonly templates: readonly PlacedTemplate[];
  /** The waits of `waitsFor` that do not hold yet, one text each. */
  readonly waits: readonly string[];
  /** Why templates that the configuration asks for cannot be chosen, one text each. */
  readonly templateProblems: readonly string[];
  /** The message that the status shows now. */
  readonly message: string | null;
}

/** Nodes that would fit, but have not come back since this master started. */
export interface Awaited {
  readonly nodeIds: readonly string[];
  /** How much longer placement waits for them. */
  readonly forMs: number;
}

/** How long a new leader waits for nodes that are expected back. They dial every 3 s at most. */
export const AWAIT_NODES_MS = 10_000;

export type PlacementStep =
  | { readonly do: 'place'; readonly id: string; readonly placement: InstancePlacement }
  | {
      readonly do: 'explain';
      readonly id: string;
      readonly reason: NoPlace['reason'];
      readonly message: string;
      /** Short codes of the conditions that failed, for the metric. */
      readonly conditions: readonly string[];
    };

export function plan(facts: PlacementFacts): Plan<PlacementStep> {
  const { task, choice, waits, templateProblems } = facts;
  if (task === null) return { steps: [] };
  if (waits.length > 0) return { steps: explain(facts, 'waits-for', waits.join('; '), ['waits-for']) };
  if (task === 'place' && templateProblems.length > 0)
    return { steps: explain(facts, 'template-missing', templateProblems.join('; '), ['template']) };
  if (mustWait(facts)) return { steps: [], recheckInMs: facts.awaited.forMs };
  if (choice !== undefined)
    return { steps: [{ do: 'place', id: facts.id, placement: placementAt(choice, facts.templates) }] };
  const { message, conditions, hasBusyPorts } = facts.refusal();
  // Explain nothing when no port is free for a move: the node tries the same port again, and reports that.
  const steps = task === 'move' ? [] : explain(facts, 'no-node-fits', message, conditions);
  return hasBusyPorts ? { steps, recheckInMs: TRY_AGAIN_MS } : { steps };
}

/**
 * True when placement must wait for nodes after a start of the master: otherwise the first node that is up
 * would get everything. An instance that can go home does not wait. A client's instance waits only for its
 * home.
 */
export function mustWait({ task, choice, homeId, isUrgent, awaited }: PlacementFacts): boolean {
  if (task !== 'place' || awaited.forMs <= 0 || awaited.nodeIds.length === 0) return false;
  if (isUrgent) return homeId !== null && awaited.nodeIds.includes(homeId);
  return choice === undefined || choice.nodeId !== homeId;
}

function explain(
  { id, message: shown }: PlacementFacts,
  reason: NoPlace['reason'],
  message: string,
  conditions: readonly string[],
): PlacementStep[] {
  return shown === message ? [] : [{ do: 'explain', id, reason, message, conditions }];
}

export function placementAt(
  { nodeId, ports, hostAddress }: Candidate,
  templates: readonly PlacedTemplate[],
): InstancePlacement {
  return { nodeId, ...ownPortsOf(ports), hostAddress, templates: [...templates] };
}
