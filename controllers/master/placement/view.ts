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
  { id, node, port, protocol }: { id: string; node: Candidate; port: number; protocol: Protocols },
  { instances, ledger, busyPorts }: ViewSources,
): PortHolder | undefined {
  const { nodeId } = node;
  const busy = busyPorts.get(nodeId, port, protocol);
  const holder = ledger.holderOf(node, { port, protocol }, '');
  if (busy === undefined && holder === undefined) return undefined;
  // Leave the instance itself out: it does not block the port that it waits for.
  const instanceId = busy !== undefined || holder === id ? undefined : holder;
  const record = instances.get(instanceId ?? '')?.value;
  return {
    port,
    nodeId,
    instanceId: instanceId ?? null,
    configurationName: record?.configurationName ?? null,
    instanceNodeId: record?.placement?.nodeId ?? null,
    protocol: busy?.protocol ?? null,
    foundAgoMs: busy === undefined ? null : Math.round(busy.agoMs),
  };
}
