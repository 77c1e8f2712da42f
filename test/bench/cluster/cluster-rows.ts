/** The findings of the cluster benchmark as rows of the table, beside those of the world without sockets. */
import type { Row } from '../table.js';
import { ms } from '../world.js';
import type { Cost, Filled } from './cluster-world.js';

const TARGET_CORES = 0.5;
const TARGET_MB = 300;
const TARGET_SECONDS = 2.5;
/** The node's time-out, and one beat that may have come just before. */
const TARGET_NOTICED_MS = 6000 + 2000;
const TARGET_REPLACED_MS = 1000;

export interface Findings {
  readonly filled: Filled;
  readonly rest: Cost;
  readonly silence: {
    /** Instances on the node. */
    readonly held: number;
    readonly noticedMs: number;
    /** From then on. */
    readonly placedMs: number;
    readonly onlineMs: number;
  };
}

/** What a stall of either side cost: nodes and instances called lost, processes started again. */
export interface Stalls {
  readonly ofMaster: number;
  readonly ofWrappers: number;
}

interface ClusterFindings {
  readonly nodes: number;
  readonly perNode: number;
  readonly measured: Findings & { readonly stalls: Stalls };
  readonly baseline: Findings;
}

export function rowsOf({ nodes, perNode, measured, baseline }: ClusterFindings): Row[] {
  const world = `${nodes} nodes over TLS, ${perNode} instances each`;
  return [
    ...restRows(world, measured.rest, baseline.rest),
    fillRow(nodes * perNode, measured.filled, baseline.filled),
  ].concat(silenceRows(measured.silence, baseline.silence), stallRow(measured.stalls));
}

function restRows(world: string, rest: Cost, baseline: Cost): Row[] {
  return [
    {
      figure: `${world}, at rest for 20 s: CPU of the master`,
      value: `${rest.cores.toFixed(3)} of a core`,
      baseline: `master and nodes in one process: ${baseline.cores.toFixed(3)}`,
      target: `< ${TARGET_CORES.toFixed(1)}`,
      ok: rest.cores < TARGET_CORES,
    },
    {
      figure: 'the same: resident memory of the master',
      value: `${Math.round(rest.megabytes)} MB`,
      baseline: `master and nodes in one process: ${Math.round(baseline.megabytes)} MB`,
      target: `< ${TARGET_MB} MB`,
      ok: rest.megabytes < TARGET_MB,
    },
  ];
}

function fillRow(count: number, filled: Filled, baseline: Filled): Row {
  const ratio = filled.seconds / baseline.seconds;
  return {
    figure: `the same: from the first of ${count} instances created to the last ONLINE (CPU of the master)`,
    value: `${filled.seconds.toFixed(1)} s (${ratio.toFixed(2)} x), CPU ${filled.cpuSeconds.toFixed(1)} s`,
    baseline: `master and nodes in one process: ${baseline.seconds.toFixed(1)} s, CPU ${baseline.cpuSeconds.toFixed(1)} s`,
    target: `<= ${TARGET_SECONDS} s`,
    ok: filled.seconds <= TARGET_SECONDS,
  };
}

function silenceRows(silence: Findings['silence'], baseline: Findings['silence']): Row[] {
  return [
    {
      figure: 'the same: a node falls silent, its socket stays open: until it is called lost',
      value: ms(silence.noticedMs),
      baseline: ms(baseline.noticedMs),
      target: `< ${TARGET_NOTICED_MS} ms`,
      ok: silence.noticedMs < TARGET_NOTICED_MS,
    },
    {
      id: 'from then until its instances are placed again / ONLINE elsewhere',
      figure: `from then until its ${silence.held} instances are placed again / ONLINE elsewhere`,
      value: `${ms(silence.placedMs)} / ${ms(silence.onlineMs)}`,
      baseline: `${ms(baseline.placedMs)} / ${ms(baseline.onlineMs)}`,
      target: `< ${TARGET_REPLACED_MS} ms`,
      ok: silence.onlineMs < TARGET_REPLACED_MS,
    },
  ];
}

function stallRow({ ofMaster, ofWrappers }: Stalls): Row {
  return {
    figure: 'the same: the master / all wrappers but one stand still for 3 s: nodes and instances lost',
    value: `${ofMaster} / ${ofWrappers}`,
    baseline: '-',
    target: '0',
    ok: ofMaster + ofWrappers === 0,
  };
}
