/** The gauges of nodes, with a line for each node that the master knows. metrics.ts registers them. */
import { Gauge, type Registry } from 'prom-client';
import type { NodeRecord } from '../model/node.js';

/** A master's knowledge of a node. */
export interface NodeFigures {
  readonly record: NodeRecord;
  /** The resources on the node that placement has reserved. */
  readonly use: { readonly ramMB: number; readonly cpu: number; readonly instances: number };
  /** The time since the last beat; undefined: no beat since the master started. */
  readonly beatAgeMs: number | undefined;
}

interface NodeFigure {
  readonly name: string;
  readonly help: string;
  /** The node's value; undefined: it has none now. */
  read(node: NodeFigures): number | undefined;
}

const FIGURES: readonly NodeFigure[] = [
  {
    name: 'drover_node_connected',
    help: '1 while beats of the node arrive.',
    read: ({ record }) => Number(record.condition === 'connected'),
  },
  {
    name: 'drover_node_ram_used_mb',
    help: 'RAM that placement has given out on the node.',
    read: ({ use }) => use.ramMB,
  },
  {
    name: 'drover_node_ram_max_mb',
    help: 'RAM that the node has to give out.',
    read: ({ record }) => record.capacity.maxRamMB,
  },
  {
    name: 'drover_node_cpu_used',
    help: 'CPU units that placement has given out on the node; 100 = one core.',
    read: ({ use }) => use.cpu,
  },
  {
    name: 'drover_node_cpu_max',
    help: 'CPU units that the node has to give out; 100 = one core.',
    read: ({ record }) => record.capacity.maxCpu,
  },
  {
    name: 'drover_node_instances',
    help: 'Instances that are placed on the node.',
    read: ({ use }) => use.instances,
  },
  {
    name: 'drover_node_beat_age_seconds',
    help: 'Time since the last beat of the node.',
    read: ({ beatAgeMs }) => (beatAgeMs === undefined ? undefined : beatAgeMs / 1000),
  },
];

/** Adds the gauges. `read` is called at each scrape. Call it once for a registry. */
export function addNodeGauges(registry: Registry, read: () => Iterable<NodeFigures>): void {
  for (const { name, help, read: figureOf } of FIGURES)
    new Gauge({
      name,
      help,
      labelNames: ['node'],
      registers: [registry],
      collect() {
        this.reset();
        for (const node of read()) {
          const figure = figureOf(node);
          if (figure !== undefined) this.set({ node: node.record.nodeId }, figure);
        }
      },
    });
  new Gauge({
    name: 'drover_node_info',
    help: 'Always 1: version and condition of the node, and whether it is cordoned, draining or drained.',
    labelNames: ['node', 'version', 'condition', 'mark'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { record } of read())
        this.set(
          {
            node: record.nodeId,
            version: record.version,
            condition: record.condition,
            mark: markOf(record),
          },
          1,
        );
    },
  });
  new Gauge({
    name: 'drover_node_runtime',
    help: 'Always 1: a runtime that the node offers.',
    labelNames: ['node', 'runtime'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { record } of read())
        for (const { key, available } of record.runtimes)
          if (available) this.set({ node: record.nodeId, runtime: key }, 1);
    },
  });
}

function markOf({ cordoned, drain }: NodeRecord): string {
  if (drain !== undefined) return drain.doneAt === null ? 'draining' : 'drained';
  return cordoned ? 'cordoned' : '';
}
