/**
 * A large cluster, 1,000 nodes with 100 instances each, against one of half as many nodes with 20 each: what an instance
 * costs, and what the master takes. Runs when named only. `DROVER_BENCH_NODES` for another size; the ratio stays.
 */
import { peakMB } from '../process-figures.js';
import type { Row } from '../table.js';
import { ClusterWorld, type Cost, costAtRest, type Filled, fill } from './cluster-world.js';

const NODES = Number(process.env.DROVER_BENCH_NODES ?? 1000);
const LARGE: Size = { nodes: NODES, instances: NODES * 100 };
const SMALL: Size = { nodes: NODES / 2, instances: NODES * 10 };
/** First, so that the smaller world does not bear the compiling of the code with fewer instances. */
const WARM_UP = 1000;
const TARGET_RATIO = 1.3;
const TARGET_MB = 1536;
const TARGET_CORES = 0.5;

interface Size {
  readonly nodes: number;
  readonly instances: number;
}

interface Measured {
  readonly filled: Filled;
  readonly rest: Cost;
  /** Of the master. */
  readonly peakMB: number;
}

export async function benchClusterLarge(): Promise<Row[]> {
  const small = await measure(SMALL);
  const large = await measure(LARGE);
  return [
    costRow('from the first created to the last ONLINE', 'seconds', large, small),
    costRow('CPU of the master', 'cpuSeconds', large, small),
    {
      figure: `${nameOf(LARGE)}: resident memory of the master at its peak`,
      value: `${Math.round(large.peakMB)} MB (${Math.round(large.rest.megabytes)} MB at rest)`,
      baseline: `${nameOf(SMALL)}: ${Math.round(small.peakMB)} MB (${Math.round(small.rest.megabytes)} MB at rest)`,
      target: `<= ${TARGET_MB} MB`,
      ok: large.peakMB <= TARGET_MB,
    },
    {
      figure: `${nameOf(LARGE)}, at rest for 20 s: CPU of the master`,
      value: `${large.rest.cores.toFixed(3)} of a core`,
      baseline: `${nameOf(SMALL)}: ${small.rest.cores.toFixed(3)} of a core`,
      target: `<= ${TARGET_CORES.toFixed(1)}`,
      ok: large.rest.cores <= TARGET_CORES,
    },
  ];
}

function measure({ nodes, instances }: Size): Promise<Measured> {
  return ClusterWorld.run(async (world) => {
    await world.joinMany(nodes);
    await fill(world.master, WARM_UP);
    console.log(`  ${nodes} nodes have joined`);
    const filled = await fill(world.master, instances);
    console.log(`  ${instances} instances are ONLINE after ${filled.seconds.toFixed(1)} s`);
    const rest = await costAtRest(world.master.pid);
    return { filled, rest, peakMB: await peakMB(world.master.pid) };
  });
}

function costRow(what: string, kind: keyof Filled, large: Measured, small: Measured): Row {
  const [mine, reference] = [perInstance(LARGE, large, kind), perInstance(SMALL, small, kind)];
  const ratio = mine / reference;
  return {
    figure: `${nameOf(LARGE)}: ${what}, per instance`,
    value: `${mine.toFixed(3)} ms (${ratio.toFixed(2)} x), ${large.filled[kind].toFixed(1)} s in all`,
    baseline: `${nameOf(SMALL)}: ${reference.toFixed(3)} ms, ${small.filled[kind].toFixed(1)} s in all`,
    target: `<= ${TARGET_RATIO.toFixed(2)} x`,
    ok: ratio <= TARGET_RATIO,
  };
}

function perInstance({ instances }: Size, { filled }: Measured, kind: keyof Filled): number {
  return (filled[kind] * 1000) / instances;
}

function nameOf({ nodes, instances }: Size): string {
  return `${instances} instances on ${nodes} nodes over TLS`;
}
