/**
 * The conditions under which a node may hold an instance, in the order in which they are tried. Placement decides
 * by them and `why` explains by them, so that both always agree.
 */
import type { NodeVerdict } from '../../../src/explain/explanation.js';
import type { NodeCondition } from '../../../src/model/node.js';
import { countText, durationText, listText } from '../../../src/model/words.js';

/** The facts that decide about one node for one instance. */
export interface Candidate {
  readonly nodeId: string;
  readonly condition: NodeCondition;
  /** Wall clock, Unix milliseconds. */
  readonly conditionSince: number;
  readonly isCordoned: boolean;
  readonly isAllowed: boolean;
  /** Why the node cannot use the runtime; null: it offers it. */
  readonly runtimeProblem: string | null;
  /** The fields of the configuration that the node does not know, because its version is older. */
  readonly unknownFields: readonly string[];
  readonly freeRamMB: number;
  readonly maxRamMB: number;
  readonly freeCpu: number;
  readonly maxCpu: number;
  /** How many instances of the same configuration are on the node, without those at rest. */
  readonly siblings: number;
  /** The address for the port; empty before a port was looked for. */
  readonly hostAddress: string;
  /** A free port. Null: the configuration asks for none, or none was looked for yet. Undefined: no port is free. */
  readonly port: number | null | undefined;
  /** How many ports of the range are believed to be held by other programs. */
  readonly busyPorts: number;
}

/** What an instance asks of a node. */
export interface Needs {
  readonly runtime: string;
  readonly ramMB: number;
  readonly cpu: number;
  readonly ports: { readonly min: number; readonly max: number } | undefined;
  /** Node ids that the configuration allows; empty: any node. */
  readonly allowedNodes: readonly string[];
  /** The node where the instance was placed last. A static instance may run only there (`isBinding`). */
  readonly home: { readonly nodeId: string; readonly isBinding: boolean } | null;
}

/** One condition of the fit. The first condition that a node fails is the reason why the node does not fit. */
export interface Condition {
  readonly code: string;
  fails(needs: Needs, node: Candidate): boolean;
  /** Words for all nodes that fail the condition, as one part of a line. */
  say(needs: Needs, nodes: readonly Candidate[]): string;
  /** Words for one node that fails the condition, to stand after its name. `now`: wall clock, Unix milliseconds. */
  tell(needs: Needs, node: Candidate, now: number): string;
}

/** The fit of one node for one instance. */
export interface NodeFit {
  readonly node: Candidate;
  /** The first condition that the node fails; undefined: it fits. */
  readonly failed: Condition | undefined;
}

const MOST_NAMED = 3;

export const PORT: Condition = {
  code: 'port',
  fails: (_needs, node) => node.port === undefined,
  say: ({ ports }, nodes) =>
    `${nodes.length} without a free port in ${ports?.min}-${ports?.max}${busy(nodes)}`,
  tell: ({ ports }, node) => `has no free port in ${ports?.min}-${ports?.max}${busy([node])}`,
};

const CONDITIONS: readonly Condition[] = [
  {
    code: 'not-allowed',
    fails: (_needs, node) => !node.isAllowed,
    say: (_needs, nodes) => `${nodes.length} not in the configuration's nodes`,
    tell: ({ allowedNodes }) => `is not in the configuration's nodes (${listText(allowedNodes, MOST_NAMED)})`,
  },
  {
    code: 'not-home',
    fails: ({ home }, node) => home?.isBinding === true && home.nodeId !== node.nodeId,
    say: ({ home }, nodes) =>
      `${nodes.length} not ${home?.nodeId}, which holds the files of this static instance`,
    tell: ({ home }) => `does not have the files of this static instance: ${home?.nodeId} has`,
  },
  {
    code: 'not-connected',
    fails: (_needs, node) => node.condition !== 'connected',
    say: (_needs, nodes) =>
      `${nodes.length} not connected (${listText(
        nodes.map(({ nodeId }) => nodeId),
        MOST_NAMED,
      )})`,
    tell: (_needs, { condition, conditionSince }, now) =>
      condition === 'lost'
        ? `has been lost for ${durationText(now - conditionSince)}: no beats arrive`
        : `was stopped ${durationText(now - conditionSince)} ago and said that it will be back`,
  },
  {
    code: 'cordoned',
    fails: (_needs, node) => node.isCordoned,
    say: (_needs, nodes) =>
      `${nodes.length} cordoned (${listText(
        nodes.map(({ nodeId }) => nodeId),
        MOST_NAMED,
      )})`,
    tell: () => 'is cordoned: it takes no new instances',
  },
  {
    code: 'runtime',
    fails: (_needs, node) => node.runtimeProblem !== null,
    say: ({ runtime }, nodes) => `${countText(nodes.length, 'does', 'do')} not offer runtime ${runtime}`,
    tell: ({ runtime }, { runtimeProblem }) => `does not offer runtime ${runtime}: ${runtimeProblem}`,
  },
  {
    code: 'version',
    fails: (_needs, node) => node.unknownFields.length > 0,
    say: (_needs, nodes) => `${nodes.length} of an older version of Drover (${unknownText(nodes[0])})`,
    tell: (_needs, node) => `runs an older version of Drover (${unknownText(node)}): update it`,
  },
  {
    code: 'ram',
    fails: ({ ramMB }, node) => node.freeRamMB < ramMB,
    say: ({ ramMB }, nodes) =>
      `${nodes.length} short of RAM (need ${ramMB} MB, free ${most(nodes, 'freeRamMB')} MB)`,
    tell: ({ ramMB }, { freeRamMB, maxRamMB }) =>
      `needs ${ramMB} MB of RAM, ${Math.max(0, freeRamMB)} MB of ${maxRamMB} MB free`,
  },
  {
    code: 'cpu',
    fails: ({ cpu }, node) => node.freeCpu < cpu,
    say: ({ cpu }, nodes) =>
      `${nodes.length} short of CPU (need ${cpu}, free ${most(nodes, 'freeCpu')}; 100 = one core)`,
    tell: ({ cpu }, { freeCpu, maxCpu }) =>
      `needs ${cpu} units of CPU, ${Math.max(0, freeCpu)} of ${maxCpu} free (100 = one core)`,
  },
  PORT,
];

/** The first condition that a node fails; undefined: it fits. */
export function firstFailed(needs: Needs, node: Candidate): Condition | undefined {
  return CONDITIONS.find((condition) => condition.fails(needs, node));
}

/** Finds, for each node, the first condition that it fails, if any. */
export function checkConditions(needs: Needs, candidates: readonly Candidate[]): NodeFit[] {
  return candidates.map((node) => ({
    node,
    failed: firstFailed(needs, node),
  }));
}

/** Says in one line how many nodes fail which condition, and by how much. */
export function summarise(
  needs: Needs,
  fits: readonly NodeFit[],
): { readonly message: string; readonly conditions: readonly string[] } {
  const parts: string[] = [];
  const conditions: string[] = [];
  for (const condition of CONDITIONS) {
    const nodes = fits.filter(({ failed }) => failed === condition).map(({ node }) => node);
    if (nodes.length === 0) continue;
    parts.push(condition.say(needs, nodes));
    conditions.push(condition.code);
  }
  return { message: parts.join(', '), conditions };
}

/** The fit of one node in words, for `why`. `now`: wall clock, Unix milliseconds. */
export function describeFit(needs: Needs, { node, failed }: NodeFit, now: number): NodeVerdict {
  const { nodeId } = node;
  return failed === undefined
    ? { nodeId, fits: true, failed: null, message: tellFit(needs, node) }
    : { nodeId, fits: false, failed: failed.code, message: failed.tell(needs, node, now) };
}

function tellFit({ ramMB }: Needs, { freeRamMB, maxRamMB, port }: Candidate): string {
  const atPort = port == null ? '' : `, port ${port}`;
  return `fits: needs ${ramMB} MB of RAM, ${freeRamMB} MB of ${maxRamMB} MB free${atPort}`;
}

function unknownText(node: Candidate | undefined): string {
  return `without ${listText(node?.unknownFields ?? [], MOST_NAMED)}`;
}

function most(nodes: readonly Candidate[], field: 'freeRamMB' | 'freeCpu'): number {
  return Math.max(0, ...nodes.map((node) => node[field]));
}

function busy(nodes: readonly Candidate[]): string {
  const count = Math.max(...nodes.map(({ busyPorts }) => busyPorts));
  return count === 0 ? '' : ` (${count} of them held by other programs)`;
}
