/**
 * Placement's decision: which node gets an instance, at which port, or why none fits, in words and numbers. Pure;
 * the ledger has counted what is free on each node.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { PlacedTemplate, Reason } from '../../../src/model/instance.js';
import { BUSY_FOR_MS } from './busy-ports.js';
import { type Candidate, checkConditions, type Needs, type NodeFit, summarise } from './conditions.js';

export interface PlacementFacts extends Needs {
  readonly id: string;
  readonly configurationName: string;
  /** Null: nothing to decide. `place`: the instance has no node. `move`: its port is busy. */
  readonly task: 'place' | 'move' | null;
  readonly candidates: readonly Candidate[];
  readonly templates: readonly PlacedTemplate[];
  /** Problems of templates that the configuration asks for and that cannot be chosen. */
  readonly templateProblems: readonly string[];
  /** The message that the status shows now. */
  readonly message: string | null;
}

export type PlacementStep =
  | {
      readonly do: 'place';
      readonly id: string;
      readonly nodeId: string;
      readonly port: number | null;
      readonly hostAddress: string;
      readonly templates: readonly PlacedTemplate[];
    }
  | {
      readonly do: 'explain';
      readonly id: string;
      readonly reason: Reason;
      readonly message: string;
      /** Short codes of the conditions that failed, for the metric. */
      readonly conditions: readonly string[];
    };

export function plan(facts: PlacementFacts): Plan<PlacementStep> {
  if (facts.task === null) return { steps: [] };
  if (facts.task === 'place' && facts.templateProblems.length > 0)
    return explain(facts, 'template-missing', facts.templateProblems.join('; '), ['template']);
  const fits = checkConditions(facts, facts.candidates);
  const best = fits
    .filter(({ failed }) => failed === undefined)
    .map(({ node }) => node)
    .toSorted((a, b) => compare(facts, a, b))[0];
  if (best !== undefined) return { steps: [place(facts, best)] };
  // No other port is free: the node tries the same one again, and reports it.
  if (facts.task === 'move') return { steps: [] };
  return explainNoFit(facts, fits);
}

/** When to look again, because a busy port comes free without an event. Null: no port of the range is believed busy. */
export function recheckOf(candidates: readonly Candidate[]): number | null {
  return candidates.some(({ busyPorts }) => busyPorts > 0) ? BUSY_FOR_MS : null;
}

function place(facts: PlacementFacts, node: Candidate): PlacementStep {
  const { nodeId, hostAddress, port } = node;
  return { do: 'place', id: facts.id, nodeId, port: port ?? null, hostAddress, templates: facts.templates };
}

/** The home of the instance first, then the largest share of free RAM, then the fewest siblings, then node id. */
function compare(facts: PlacementFacts, a: Candidate, b: Candidate): number {
  const isHome = (node: Candidate): number => (facts.home?.nodeId === node.nodeId ? 0 : 1);
  const share = (node: Candidate): number => (node.freeRamMB - facts.ramMB) / node.maxRamMB;
  return (
    isHome(a) - isHome(b) || share(b) - share(a) || a.siblings - b.siblings || (a.nodeId < b.nodeId ? -1 : 1)
  );
}

function explainNoFit(facts: PlacementFacts, fits: readonly NodeFit[]): Plan<PlacementStep> {
  if (fits.length === 0)
    return explain(facts, 'no-node-fits', '0/0 nodes fit: no node has joined the cluster yet', ['no-node']);
  const { message, conditions } = summarise(facts, fits);
  return explain(facts, 'no-node-fits', `0/${fits.length} nodes fit: ${message}`, conditions);
}

function explain(
  facts: PlacementFacts,
  reason: Reason,
  message: string,
  conditions: readonly string[],
): Plan<PlacementStep> {
  return facts.message === message
    ? { steps: [] }
    : { steps: [{ do: 'explain', id: facts.id, reason, message, conditions }] };
}
