/**
 * The conditions under which a node may hold an instance, in the order in which they are tried. Placement decides
 * by them and `why` explains by them, so that both always agree.
 */
import type { NodeVerdict } from '../../../src/explain/explanation.js';
import type { NamedPort, PortNeed } from '../../../src/model/fields/ports.js';
import type { NodeCondition } from '../../../src/model/node.js';
import { durationText } from '../../../src/model/plain/duration-text.js';
import { countText, listText } from '../../../src/model/words.js';

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
  /** The address for the ports; empty before ports were looked for. */
  readonly hostAddress: string;
  /** Free ports. Empty: the configuration asks for none, or none were looked for yet. */
  readonly ports: readonly NamedPort[];
  /** The port for which no number is free; undefined: none. */
  readonly lacks: PortNeed | undefined;
  /** How many ports of what it lacks are believed to be held by other programs. */
  readonly busyPorts: number;
}

/** What an instance asks of a node. */
export interface Needs {
  readonly runtime: string;
  readonly ramMB: number;
  readonly cpu: number;
  readonly ports: readonly PortNeed[];
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
  fails: (_needs, node) => node.lacks !== undefined,
  say: (_needs, nodes) =>
    [...new Set(nodes.map(({ lacks }) => lacks))]
      .map((lacks) => ({ lacks, without: nodes.filter((node) => node.lacks === lacks) }))
      .map(({ lacks, without }) => `${without.length} without a free ${portText(lacks)}${busy(without)}`)
      .join(', '),
  tell: (_needs, node) => `has no free ${portText(node.lacks)}${busy([node])}`,
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
    say: (_needs, nodes) => `${nodes.length} not connected (${idsOf(nodes)})`,
    tell: (_needs, { condition, conditionSince }, now) =>
      condition === 'lost'
        ? `has been lost for ${durationText(now - conditionSince)}: no beats arrive`
        : `was stopped ${durationText(now - conditionSince)} ago and said that it will be back`,
  },
  {
    code: 'cordoned',
    fails: (_needs, node) => node.isCordoned,
    say: (_needs, nodes) => `${nodes.length} cordoned (${idsOf(nodes)})`,
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
  return candidates.map((node) => ({ node, failed: firstFailed(needs, node) }));
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

function tellFit({ ramMB }: Needs, { freeRamMB, maxRamMB, ports }: Candidate): string {
  const atPort = ports.map(({ name, port }) => `, ${portLabel(name)} ${port}`).join('');
  return `fits: needs ${ramMB} MB of RAM, ${freeRamMB} MB of ${maxRamMB} MB free${atPort}`;
}

/** `port in 8080-8099`, `port query in 27015-27020`, or `port in 8080-8099 with query 1 above`. */
function portText(lacks: PortNeed | undefined): string {
  const { name = 'main', min, max, group = [] } = lacks ?? {};
  const beside = group.filter(({ above }) => above > 0).map((one) => `${one.name} ${one.above} above`);
  return `${portLabel(name)} in ${min}-${max}${beside.length === 0 ? '' : ` with ${beside.join(', ')}`}`;
}

function portLabel(name: string): string {
  return name === 'main' ? 'port' : `port ${name}`;
}

function idsOf(nodes: readonly Candidate[]): string {
  return listText(
    nodes.map(({ nodeId }) => nodeId),
    MOST_NAMED,
  );
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
