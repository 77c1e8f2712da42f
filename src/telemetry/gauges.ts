/** The gauges that are read at each scrape, and the figures that they show. metrics.ts registers them. */
import { Counter, Gauge, type Registry } from 'prom-client';
import type { MaybePromise } from '../loop/maybe-promise.js';
import type { NodeRecord } from '../model/node.js';
import type { RolloutRecord } from '../model/rollout.js';
import type { Timetable } from '../model/schedule.js';

export interface EtcdFigures {
  readonly databaseBytes: number;
  readonly databaseBytesInUse: number;
  /** The names of the alarms that are on, such as `NOSPACE`. */
  readonly alarms: ReadonlySet<string>;
}

export interface FileFigures {
  /**
   * How many files are in each state. Every state is named, so that each has a line. `dirty` counts files a second
   * time: those that are not as the commit of their git work tree has them.
   */
  readonly states: ReadonlyMap<string, number>;
  /** How many configurations without a file wait until their removal is confirmed. */
  readonly removalsWaiting: number;
  /** How many commits of the upstream are not checked out in the directory; undefined: not known. */
  readonly behind: number | undefined;
  /** How many instances of each configuration were made from an older content. */
  readonly outdated: ReadonlyMap<string, number>;
}

export interface LeadershipFigures {
  isLeader(): boolean;
  /** The present leader; null: nobody leads. */
  leader(): { readonly epoch: number } | null;
  onChange(listener: () => void): () => void;
}

/** A master's knowledge of a node. */
export interface NodeFigures {
  readonly record: NodeRecord;
  /** The resources on the node that placement has reserved. */
  readonly use: { readonly ramMB: number; readonly cpu: number; readonly instances: number };
  /** The time since the last beat; undefined: no beat since the master started. */
  readonly beatAgeMs: number | undefined;
}

export type RolloutFigures = Pick<RolloutRecord, 'name' | 'state' | 'counts'>;

/**
 * Adds a gauge that shows the result of `read`. When that is undefined, the gauge keeps its value, which is 0 at
 * first.
 */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  read: () => MaybePromise<number | undefined>,
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const value = await read();
      if (value !== undefined) this.set(value);
    },
  });
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/** Adds a gauge with a line for each of the labels and values that `read` gives. */
export function addLabelledGauge<Label extends string>(
  registry: Registry,
  about: { readonly name: string; readonly help: string; readonly labelNames: Label[] },
  read: () => MaybePromise<Iterable<readonly [labels: Labels<Label>, value: number]>>,
): void {
  new Gauge({
    ...about,
    registers: [registry],
    async collect() {
      const lines = await read();
      this.reset();
      for (const [labels, value] of lines) this.set(labels, value);
    },
  });
}

/** Adds gauges of the last look at etcd; undefined: no look yet. */
export function addEtcdGauges(registry: Registry, read: () => EtcdFigures | undefined): void {
  const size = 'Size of the database file of the etcd member that answers.';
  addGauge(registry, 'drover_etcd_database_bytes', size, () => read()?.databaseBytes);
  const inUse = 'Bytes of the database file of etcd that are in use.';
  addGauge(registry, 'drover_etcd_database_in_use_bytes', inUse, () => read()?.databaseBytesInUse);
  const help = 'An alarm of etcd that is on: 1. While NOSPACE is on, nothing can be written.';
  addLabelledGauge(registry, { name: 'drover_etcd_alarm', help, labelNames: ['alarm'] }, () =>
    [...(read()?.alarms ?? [])].map((alarm) => [{ alarm }, 1]),
  );
}

/**
 * Adds the gauges of configuration files. `open`: the registry that everybody may see. `naming`: the registry whose
 * labels name configurations.
 */
export function addFileGauges(open: Registry, naming: Registry, read: () => Promise<FileFigures>): void {
  const states = { name: 'drover_configuration_files', help: 'Configuration files by state.' };
  addLabelledGauge(open, { ...states, labelNames: ['state'] }, async () =>
    [...(await read()).states].map(([state, count]) => [{ state }, count]),
  );
  const behind = 'Commits of the upstream branch, as last fetched, that the configurations directory lacks.';
  addLabelledGauge(open, { name: 'drover_git_behind_commits', help: behind, labelNames: [] }, async () => {
    const { behind: count } = await read();
    return count === undefined ? [] : [[{}, count]];
  });
  const waiting = 'Configurations without a file that stay until their removal is confirmed.';
  addGauge(
    open,
    'drover_configuration_removals_waiting',
    waiting,
    async () => (await read()).removalsWaiting,
  );
  const outdated = {
    name: 'drover_configuration_outdated_instances',
    help: 'Instances that were made from an older content of their configuration.',
  };
  addLabelledGauge(naming, { ...outdated, labelNames: ['configuration'] }, async () =>
    [...(await read()).outdated].map(([configuration, count]) => [{ configuration }, count]),
  );
}

/** Adds the gauges that show who leads, as this master sees it. */
export function addLeadershipGauges(registry: Registry, leadership: LeadershipFigures): void {
  const leads = '1: this master leads. 0: it follows another one, or waits for an election.';
  addGauge(registry, 'drover_leader', leads, () => Number(leadership.isLeader()));
  let epoch = leadership.leader()?.epoch ?? 0;
  const last = 'The number of the last term that this master has heard of. 0: there is one master.';
  addGauge(registry, 'drover_leader_epoch', last, () => epoch);
  const changes = new Counter({
    name: 'drover_leader_changes_total',
    help: 'How many terms have begun since this master started.',
    registers: [registry],
  });
  leadership.onChange(() => {
    const now = leadership.leader()?.epoch ?? epoch;
    if (now === epoch) return;
    epoch = now;
    changes.inc();
  });
}

/** Reads one figure of a node; undefined: the node has no such figure now. */
type NodeFigure = (node: NodeFigures) => number | undefined;

const NODE_FIGURES: readonly (readonly [name: string, help: string, read: NodeFigure])[] = [
  [
    'drover_node_connected',
    '1 while beats of the node arrive.',
    ({ record }) => Number(record.condition === 'connected'),
  ],
  ['drover_node_ram_used_mb', 'RAM that placement has given out on the node.', ({ use }) => use.ramMB],
  ['drover_node_ram_max_mb', 'RAM that the node has to give out.', ({ record }) => record.capacity.maxRamMB],
  [
    'drover_node_cpu_used',
    'CPU units that placement has given out on the node; 100 = one core.',
    ({ use }) => use.cpu,
  ],
  [
    'drover_node_cpu_max',
    'CPU units that the node has to give out; 100 = one core.',
    ({ record }) => record.capacity.maxCpu,
  ],
  ['drover_node_instances', 'Instances that are placed on the node.', ({ use }) => use.instances],
  [
    'drover_node_beat_age_seconds',
    'Time since the last beat of the node.',
    ({ beatAgeMs }) => (beatAgeMs === undefined ? undefined : beatAgeMs / 1000),
  ],
];

/** Adds the gauges of nodes, with a line for each node that the master knows. */
export function addNodeGauges(registry: Registry, read: () => Iterable<NodeFigures>): void {
  for (const [name, help, figureOf] of NODE_FIGURES)
    addLabelledGauge(registry, { name, help, labelNames: ['node'] }, function* () {
      for (const node of read()) {
        const figure = figureOf(node);
        if (figure !== undefined) yield [{ node: node.record.nodeId }, figure];
      }
    });
  const info = {
    name: 'drover_node_info',
    help: 'Always 1: version and condition of the node, and whether it is cordoned, draining or drained.',
  };
  addLabelledGauge(registry, { ...info, labelNames: ['node', 'version', 'condition', 'mark'] }, function* () {
    for (const { record } of read()) {
      const { nodeId: node, version, condition } = record;
      yield [{ node, version, condition, mark: markOf(record) }, 1];
    }
  });
  const runtime = { name: 'drover_node_runtime', help: 'Always 1: a runtime that the node offers.' };
  addLabelledGauge(registry, { ...runtime, labelNames: ['node', 'runtime'] }, function* () {
    for (const { record } of read())
      for (const { key, available } of record.runtimes)
        if (available) yield [{ node: record.nodeId, runtime: key }, 1];
  });
}

function markOf({ cordoned, drain }: NodeRecord): string {
  if (drain !== undefined) return drain.doneAt === null ? 'draining' : 'drained';
  return cordoned ? 'cordoned' : '';
}

/** Adds the gauges of rollouts. A configuration without any rollout has no line. */
export function addRolloutGauges(registry: Registry, read: () => Iterable<RolloutFigures>): void {
  const states = {
    name: 'drover_rollout_state',
    help: 'The state of the latest rollout of a configuration: 1 beside that state.',
  };
  addLabelledGauge(registry, { ...states, labelNames: ['configuration', 'state'] }, function* () {
    for (const { name: configuration, state } of read()) yield [{ configuration, state }, 1];
  });
  const instances = {
    name: 'drover_rollout_instances',
    help: 'Instances in the latest rollout of a configuration, by what they are in it.',
  };
  addLabelledGauge(registry, { ...instances, labelNames: ['configuration', 'kind'] }, function* () {
    for (const { name: configuration, counts } of read())
      for (const [kind, count] of Object.entries(counts)) yield [{ configuration, kind }, count];
  });
}

/** Adds the gauge of schedules. A configuration without any has no line. */
export function addScheduleGauge(
  registry: Registry,
  read: () => Iterable<readonly [string, Timetable]>,
): void {
  const name = 'drover_schedule_due_times';
  const help = 'How many due times of a schedule ended in each way, such as done or missed.';
  const labelNames = ['configuration', 'schedule', 'outcome'];
  addLabelledGauge(registry, { name, help, labelNames }, function* () {
    for (const [configuration, { entries }] of read())
      for (const [schedule, { counts }] of Object.entries(entries))
        for (const [outcome, count = 0] of Object.entries(counts))
          yield [{ configuration, schedule, outcome }, count];
  });
}
