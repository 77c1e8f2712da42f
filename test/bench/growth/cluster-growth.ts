/** What an instance costs the master of a cluster, with ever more nodes, and with ever more instances. */
import { ClusterWorld, fill } from '../cluster/cluster-world.js';
import type { Row } from '../table.js';
import { growthRows, type Measured } from './growth-row.js';

const NODES = [25, 50, 100, 200, 400];
const INSTANCES_OF_NODES = 2000;
const INSTANCES = [500, 1000, 2000, 4000, 8000];
const NODES_OF_INSTANCES = 100;
/** First in each world, so that the smallest does not bear the compiling of the code with the fewest instances. */
const WARM_UP = 1000;

export async function benchNodeGrowth(): Promise<Row[]> {
  const costs: Measured[] = [];
  for (const nodes of NODES) costs.push({ size: nodes, cost: await costOf(nodes, INSTANCES_OF_NODES) });
  return growthRows({
    name: 'nodes',
    title: 'An instance, by number of nodes',
    xLabel: `nodes (${INSTANCES_OF_NODES} instances are placed on them)`,
    yLabel: 'ms of CPU of the master, per instance',
    unit: 'ms of CPU',
    of: 'nodes',
    lines: [{ label: 'placing one instance: CPU of the master', costs }],
  });
}

export async function benchInstanceGrowth(): Promise<Row[]> {
  const costs: Measured[] = [];
  for (const count of INSTANCES) costs.push({ size: count, cost: await costOf(NODES_OF_INSTANCES, count) });
  return growthRows({
    name: 'instances',
    title: 'An instance, by number of instances',
    xLabel: `instances (placed at once on ${NODES_OF_INSTANCES} nodes)`,
    yLabel: 'ms of CPU of the master, per instance',
    unit: 'ms of CPU',
    of: 'instances',
    lines: [{ label: 'placing one instance: CPU of the master', costs }],
  });
}

/** Milliseconds of the master's processor time, from the record to ONLINE. */
function costOf(nodes: number, instances: number): Promise<number> {
  return ClusterWorld.run(async (world) => {
    await world.joinMany(nodes);
    await fill(world.master, WARM_UP);
    const { cpuSeconds } = await fill(world.master, instances);
    return (cpuSeconds * 1000) / instances;
  });
}
