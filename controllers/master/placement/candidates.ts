/**
 * Gathers what the conditions need to know of one node for one more instance of a configuration. The shortlists keep
 * such candidates; `why` makes them anew for every node.
 */
import { type Configuration, unknownFields } from '../../../src/model/configuration.js';
import {
  isSamePort,
  type NamedPort,
  type PortNeed,
  portNeedsOf,
  withSharer,
} from '../../../src/model/fields/ports.js';
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
  const { runtime, ramMB, cpu, nodes: allowedNodes } = configuration;
  const ports = portNeedsOf(configuration);
  return { configuration, runtime, ramMB, cpu, ports, allowedNodes, allowed: new Set(allowedNodes) };
}

/** The facts of a node, still without ports: `withPorts` looks for them. */
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
    ports: [],
    lacks: undefined,
    busyPorts: 0,
  };
}

/** The ports that an instance had. */
export interface OldPorts {
  readonly ports: readonly NamedPort[];
  /** The instance itself, when it still holds the ports: only another holder makes a port busy. */
  readonly holder?: string;
  /** True for a static instance: it gets its old ports even when another program holds one, and waits for it. */
  readonly isKept?: boolean;
  /** True when a port that was found busy some seconds ago is tried again where no other one is free. */
  readonly isRetried?: boolean;
}

/** Completes a candidate with its host address and its ports: the old ones if free, else the lowest free ones. */
export function withPorts(
  sources: FleetSources,
  { configuration, ports: needs }: Question,
  candidate: Candidate,
  old: OldPorts = { ports: [] },
): Candidate {
  const { nodeId } = candidate;
  const node = sources.nodes.get(nodeId)?.value;
  const hostAddress = node === undefined ? '' : sources.hostAddressOf(configuration, node);
  const ports: NamedPort[] = [];
  const found = { ...candidate, hostAddress, ports, lacks: undefined };
  for (const need of needs) {
    const number = numberFor(sources, need, found, old);
    if (number === undefined)
      return { ...found, lacks: need, busyPorts: sources.busyPorts.in(nodeId, need)?.count ?? 0 };
    for (const { name, above, protocol } of need.group)
      ports.push(withSharer({ name, port: number + above, protocol }, need.sharedBy));
  }
  return found;
}

/** The number for a need beside the ports that the candidate has already; undefined: none is free. */
function numberFor(
  { ledger, busyPorts }: FleetSources,
  need: PortNeed,
  at: Candidate,
  { ports, holder = '', isKept = false, isRetried = false }: OldPorts,
): number | undefined {
  const { name, min, max, protocol: of, sharedBy, group } = need;
  const fits = (number: number, except: string): boolean =>
    number >= min &&
    number <= max &&
    group.every(({ above, protocol }) => {
      const one = { port: number + above, protocol, sharedBy };
      const isChosen = at.ports.some((other) => isSamePort(one, other));
      return !isChosen && ledger.holderOf(at, one, except) === undefined;
    });
  const isBusy = (number: number): boolean =>
    group.some(({ above, protocol }) => busyPorts.get(at.nodeId, number + above, protocol) !== undefined);
  const isFree = ({ port }: NamedPort): boolean => !isBusy(port) && fits(port, holder);
  const had = ports.find((one) => one.name === name);
  // An instance that shares its port joins its siblings on the node. A static one keeps the port that it had.
  const held = sharedBy === undefined || isKept ? [] : ledger.heldPorts(at, need);
  const joined = held.find(
    (port) =>
      ledger.holderOf(at, { port, protocol: of }, holder) !== undefined &&
      !isBusy(port) &&
      fits(port, holder),
  );
  if (joined !== undefined) return joined;
  if (had !== undefined && (isFree(had) || (isKept && fits(had.port, holder)))) return had.port;
  const free = ledger.freePort(at, need, (port) => isBusy(port) || !fits(port, ''));
  // Last comes a number that the instance has by another name: a port that is renamed frees its own.
  const found = free ?? ports.find(isFree)?.port;
  return found === undefined && isRetried
    ? busyPorts.worthATry(at.nodeId, need, (port) => fits(port, ''))
    : found;
}

function runtimeProblemOf(node: NodeRecord, runtime: string): string | null {
  const offer = node.runtimes.find(({ key }) => key === runtime);
  if (offer === undefined) return 'the node has no such runtime';
  return offer.available ? null : (offer.reason ?? 'it is not available');
}
