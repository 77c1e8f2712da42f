/**
 * Gathers what the conditions need to know of one node for one more instance of a configuration. The shortlists keep
 * such candidates; `why` makes them anew for every node.
 */
import { type Configuration, unknownFields } from '../../../src/model/configuration.js';
import type { NodeRecord } from '../../../src/model/node.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { BusyPorts } from './busy-ports.js';
import type { Candidate, Needs } from './conditions.js';
import type { PlacementLedger } from './ledger.js';

export interface FleetSources {
  readonly nodes: MirrorReader<NodeRecord>;
  readonly ledger: PlacementLedger;
  readonly busyPorts: BusyPorts;
  /** `hostAddress` of the configuration with its variables replaced, or the node's address. */
  readonly hostAddressOf: (configuration: Configuration, node: NodeRecord) => string;
}

/** The needs that all instances of one revision share. */
export interface Question extends Omit<Needs, 'home'> {
  readonly configuration: Configuration;
  readonly allowed: ReadonlySet<string>;
}

export function questionOf(configuration: Configuration): Question {
  const { runtime, ramMB, cpu, availablePorts: ports, nodes: allowedNodes } = configuration;
  return { configuration, runtime, ramMB, cpu, ports, allowedNodes, allowed: new Set(allowedNodes) };
}

/** The facts of a node, still without a port: `withPort` looks for one. */
export function candidateOf(
  { ledger }: FleetSources,
  { configuration, runtime, allowed }: Question,
  node: NodeRecord,
): Candidate {
  const { nodeId, capacity } = node;
  const use = ledger.use(nodeId);
  return {
    nodeId,
    condition: node.condition,
    conditionSince: node.conditionSince,
    isCordoned: node.cordoned,
    isAllowed: allowed.size === 0 || allowed.has(nodeId),
    runtimeProblem: runtimeProblemOf(node, runtime),
    unknownFields: unknownFields(configuration, node.knows),
    freeRamMB: capacity.maxRamMB - use.ramMB,
    maxRamMB: capacity.maxRamMB,
    freeCpu: capacity.maxCpu - use.cpu,
    maxCpu: capacity.maxCpu,
    siblings: ledger.countOf(nodeId, configuration.name),
    hostAddress: '',
    port: null,
    busyPorts: 0,
  };
}

/** The port that an instance had. */
export interface OldPort {
  readonly port: number | null;
  /** The instance itself, when it still holds the port: only another holder makes the port busy. */
  readonly holder?: string;
  /** True for a static instance: it gets its old port even when another program holds that port, and waits for it. */
  readonly isKept?: boolean;
}

/** Completes a candidate with its host address and a port: the old one if free, else the lowest free one. */
export function withPort(
  { nodes, ledger, busyPorts, hostAddressOf }: FleetSources,
  { configuration, ports }: Question,
  candidate: Candidate,
  { port: old, holder = '', isKept = false }: OldPort,
): Candidate {
  const { nodeId } = candidate;
  const node = nodes.get(nodeId)?.value;
  const hostAddress = node === undefined ? '' : hostAddressOf(configuration, node);
  if (ports === undefined) return { ...candidate, hostAddress };
  const isOldFree =
    old !== null &&
    old >= ports.min &&
    old <= ports.max &&
    (isKept || !busyPorts.has(nodeId, old)) &&
    ledger.holderOf(nodeId, hostAddress, old, holder) === undefined;
  const isBusy = (port: number): boolean => busyPorts.has(nodeId, port);
  return {
    ...candidate,
    hostAddress,
    port: isOldFree ? old : ledger.freePort(nodeId, hostAddress, ports, isBusy),
    busyPorts: busyPorts.in(nodeId, ports)?.count ?? 0,
  };
}

/** The candidate with a port that was found busy some seconds ago, if it has no other one. */
export function withBusyPort(
  { ledger, busyPorts }: FleetSources,
  { ports }: Question,
  candidate: Candidate,
): Candidate {
  const { nodeId, hostAddress, port } = candidate;
  if (port !== undefined || ports === undefined) return candidate;
  const isHeld = (one: number): boolean => ledger.holderOf(nodeId, hostAddress, one, '') !== undefined;
  return { ...candidate, port: busyPorts.worthATry(nodeId, ports, isHeld) };
}

function runtimeProblemOf(node: NodeRecord, runtime: string): string | null {
  const offer = node.runtimes.find(({ key }) => key === runtime);
  if (offer === undefined) return 'the node has no such runtime';
  return offer.available ? null : (offer.reason ?? 'it is not available');
}
