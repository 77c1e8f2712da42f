/** Placement's view of one instance, for `why`: the fit of each node in words, and who holds the ports. */
import type { PlacementView } from '../../../src/explain/decisions.js';
import { MOST_LISTED, type PortHolder } from '../../../src/explain/explanation.js';
import type { Clock } from '../../../src/loop/clock.js';
import type { PortNeed, Protocols } from '../../../src/model/fields/ports.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import type { MirrorReader } from '../../../src/store/mirror.js';
import type { BusyPorts } from './busy-ports.js';
import {
  type Candidate,
  checkConditions,
  describeFit,
  type Needs,
  type NodeFit,
  summarise,
} from './conditions.js';
import type { PlacementLedger } from './ledger.js';
import { mustWait, type PlacementFacts } from './plan.js';

interface ViewSources {
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'get'>;
  readonly ledger: PlacementLedger;
  readonly busyPorts: BusyPorts;
  readonly clock: Clock;
}

/** An instance, what it asks of a node, and every node. */
interface Viewed {
  readonly facts: PlacementFacts;
  readonly needs: Needs;
  readonly candidates: readonly Candidate[];
}

/** Makes the view. Nodes that fit come first; each group is in order of id. */
export function viewOf({ facts, needs, candidates }: Viewed, sources: ViewSources): PlacementView {
  const now = sources.clock.now();
  const fits = checkConditions(needs, candidates);
  const full = fits.filter(({ failed }) => failed?.code === 'port').map(({ node }) => node);
  const holders = [...portHolders(facts.id, full, sources)];
  return {
    task: facts.task === 'move' ? 'move' : 'place',
    nodes: fits
      .map((fit) => describeFit(needs, fit, now))
      .toSorted((a, b) => Number(b.fits) - Number(a.fits) || (a.nodeId < b.nodeId ? -1 : 1)),
    summary: summarise(needs, fits).message,
    isTooLarge: isTooLarge(needs, fits),
    awaited: mustWait(facts) ? facts.awaited : null,
    waits: facts.waits,
    templateProblems: facts.task === 'place' ? facts.templateProblems : [],
    ports: rangeOf(full[0]?.lacks ?? needs.ports.find(({ name }) => name === 'main')),
    portHolders: holders,
    portHoldersTotal:
      holders.length < MOST_LISTED
        ? holders.length
        : full.reduce((sum, { lacks }) => sum + (lacks === undefined ? 0 : lacks.max - lacks.min + 1), 0),
  };
}

function rangeOf(need: PortNeed | undefined): PlacementView['ports'] {
  if (need === undefined) return null;
  const { name, min, max } = need;
  return name === 'main' ? { min, max } : { name, min, max };
}

function isTooLarge({ ramMB, cpu }: Needs, fits: readonly NodeFit[]): boolean {
  const short = fits.filter(({ failed }) => failed?.code === 'ram' || failed?.code === 'cpu');
  return short.length > 0 && short.every(({ node }) => ramMB > node.maxRamMB || cpu > node.maxCpu);
}

function* portHolders(id: string, nodes: readonly Candidate[], sources: ViewSources): Generator<PortHolder> {
  let listed = 0;
  for (const node of nodes) {
    const { min, max, group } = node.lacks ?? { min: 0, max: 0, group: [] };
    for (const [index, { above, protocol }] of group.entries()) {
      // The ports that are the same as the first one are listed with it.
      if (index > 0 && above === 0) continue;
      for (let port = min + above; port <= max + above && listed < MOST_LISTED; port++) {
        const holder = holderOf({ id, node, port, protocol }, sources);
        if (holder === undefined) continue;
        listed++;
        yield holder;
      }
    }
  }
}

/** Who holds a port of `node`, from the view of the instance `id`. Undefined: the port is free. */
function holderOf(
  { id, node, port, protocol: of }: { id: string; node: Candidate; port: number; protocol: Protocols },
  { instances, ledger, busyPorts }: ViewSources,
): PortHolder | undefined {
  const { nodeId, hostAddress } = node;
  const nobody = { instanceId: null, configurationName: null, instanceNodeId: null };
  const busy = busyPorts.has(nodeId, port, of) ? busyPorts.get(nodeId, port) : undefined;
  const instanceId = ledger.holderOf(nodeId, hostAddress, { port, protocol: of }, '');
  if (busy === undefined && instanceId === undefined) return undefined;
  // Leave the instance itself out: it does not block the port that it waits for.
  if (busy !== undefined || instanceId === id) {
    const { protocol = null, agoMs = null } = busy ?? {};
    return { port, nodeId, ...nobody, protocol, foundAgoMs: agoMs === null ? null : Math.round(agoMs) };
  }
  const record = instanceId === undefined ? undefined : instances.get(instanceId)?.value;
  return {
    port,
    nodeId,
    instanceId: instanceId ?? null,
    configurationName: record?.configurationName ?? null,
    instanceNodeId: record?.placement?.nodeId ?? null,
    protocol: null,
    foundAgoMs: null,
  };
}
