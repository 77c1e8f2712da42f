/**
 * Placement's decision: which node gets an instance, at which port, or why none fits, in words and numbers. Pure;
 * what the nodes have left was counted by the ledger.
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import type { PlacedTemplate, Reason } from '../../../src/model/instance.js';

/** What decides about one node for one instance. */
export interface Candidate {
  readonly nodeId: string;
  readonly isConnected: boolean;
  readonly isCordoned: boolean;
  readonly isAllowed: boolean;
  readonly offersRuntime: boolean;
  readonly freeRamMB: number;
  readonly maxRamMB: number;
  readonly freeCpu: number;
  /** Instances of the same configuration there. */
  readonly siblings: number;
  readonly hostAddress: string;
  /** A free port; null: none is asked for; undefined: none is free. */
  readonly port: number | null | undefined;
  /** Ports of the range believed to be held by other programs. */
  readonly busyPorts: number;
}

export interface PlacementFacts {
  readonly id: string;
  readonly configurationName: string;
  /** Null: nothing to decide. `place`: it has no node. `move`: its port is busy. */
  readonly task: 'place' | 'move' | null;
  readonly runtime: string;
  readonly ramMB: number;
  readonly cpu: number;
  readonly ports: { readonly min: number; readonly max: number } | undefined;
  /** The only node it may run on (static), or the one it would go back to. */
  readonly home: { readonly nodeId: string; readonly isBinding: boolean } | null;
  readonly candidates: readonly Candidate[];
  readonly templates: readonly PlacedTemplate[];
  /** Templates that the configuration asks for and that cannot be chosen. */
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

/** One condition of the fit, in the order in which it is tried; the first that fails is the node's reason. */
interface Condition {
  readonly code: string;
  fails(facts: PlacementFacts, node: Candidate): boolean;
  /** For `count` nodes that failed it. */
  say(facts: PlacementFacts, nodes: readonly Candidate[]): string;
}

const CONDITIONS: readonly Condition[] = [
  {
    code: 'not-allowed',
    fails: (_facts, node) => !node.isAllowed,
    say: (_facts, nodes) => `${nodes.length} not in the configuration's nodes`,
  },
  {
    code: 'not-home',
    fails: ({ home }, node) => home?.isBinding === true && home.nodeId !== node.nodeId,
    say: ({ home }, nodes) =>
      `${nodes.length} not ${home?.nodeId}, which holds the files of this static instance`,
  },
  {
    code: 'not-connected',
    fails: (_facts, node) => !node.isConnected,
    say: (_facts, nodes) => `${nodes.length} not connected (${names(nodes)})`,
  },
  {
    code: 'cordoned',
    fails: (_facts, node) => node.isCordoned,
    say: (_facts, nodes) => `${nodes.length} cordoned (${names(nodes)})`,
  },
  {
    code: 'runtime',
    fails: (_facts, node) => !node.offersRuntime,
    say: ({ runtime }, nodes) =>
      `${nodes.length} ${nodes.length === 1 ? 'does' : 'do'} not offer runtime ${runtime}`,
  },
  {
    code: 'ram',
    fails: ({ ramMB }, node) => node.freeRamMB < ramMB,
    say: ({ ramMB }, nodes) =>
      `${nodes.length} short of RAM (need ${ramMB} MB, free ${most(nodes, 'freeRamMB')} MB)`,
  },
  {
    code: 'cpu',
    fails: ({ cpu }, node) => node.freeCpu < cpu,
    say: ({ cpu }, nodes) =>
      `${nodes.length} short of CPU (need ${cpu}, free ${most(nodes, 'freeCpu')}; 100 = one core)`,
  },
  {
    code: 'port',
    fails: (_facts, node) => node.port === undefined,
    say: ({ ports }, nodes) =>
      `${nodes.length} without a free port in ${ports?.min}-${ports?.max}${busy(nodes)}`,
  },
];

export function plan(facts: PlacementFacts): Plan<PlacementStep> {
  if (facts.task === null) return { steps: [] };
  if (facts.task === 'place' && facts.templateProblems.length > 0)
    return explain(facts, 'template-missing', facts.templateProblems.join('; '), ['template']);
  const verdicts = facts.candidates.map((node) => ({
    node,
    failed: CONDITIONS.find((condition) => condition.fails(facts, node)),
  }));
  const best = verdicts
    .filter(({ failed }) => failed === undefined)
    .map(({ node }) => node)
    .toSorted((a, b) => compare(facts, a, b))[0];
  if (best !== undefined) return { steps: [place(facts, best)] };
  // A busy port with no other to go to: the node tries the same one again and says so itself.
  if (facts.task === 'move') return { steps: [] };
  return explainNoFit(facts, verdicts);
}

function place(facts: PlacementFacts, node: Candidate): PlacementStep {
  const { nodeId, hostAddress, port } = node;
  return { do: 'place', id: facts.id, nodeId, port: port ?? null, hostAddress, templates: facts.templates };
}

/** Its old node first, then most free RAM share, then fewest siblings, then node id. */
function compare(facts: PlacementFacts, a: Candidate, b: Candidate): number {
  const isHome = (node: Candidate): number => (facts.home?.nodeId === node.nodeId ? 0 : 1);
  const share = (node: Candidate): number => (node.freeRamMB - facts.ramMB) / node.maxRamMB;
  return (
    isHome(a) - isHome(b) || share(b) - share(a) || a.siblings - b.siblings || (a.nodeId < b.nodeId ? -1 : 1)
  );
}

function explainNoFit(
  facts: PlacementFacts,
  verdicts: readonly { node: Candidate; failed: Condition | undefined }[],
): Plan<PlacementStep> {
  if (verdicts.length === 0)
    return explain(facts, 'no-node-fits', '0/0 nodes fit: no node has joined the cluster yet', ['no-node']);
  const parts: string[] = [];
  const conditions: string[] = [];
  for (const condition of CONDITIONS) {
    const nodes = verdicts.filter(({ failed }) => failed === condition).map(({ node }) => node);
    if (nodes.length === 0) continue;
    parts.push(condition.say(facts, nodes));
    conditions.push(condition.code);
  }
  return explain(facts, 'no-node-fits', `0/${verdicts.length} nodes fit: ${parts.join(', ')}`, conditions);
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

function names(nodes: readonly Candidate[]): string {
  const shown = nodes.slice(0, 3).map(({ nodeId }) => nodeId);
  return nodes.length > shown.length
    ? `${shown.join(', ')} and ${nodes.length - shown.length} more`
    : shown.join(', ');
}

function most(nodes: readonly Candidate[], field: 'freeRamMB' | 'freeCpu'): number {
  return Math.max(0, ...nodes.map((node) => node[field]));
}

function busy(nodes: readonly Candidate[]): string {
  const count = Math.max(...nodes.map(({ busyPorts }) => busyPorts));
  return count === 0 ? '' : ` (${count} of them held by other programs)`;
}
