/** `cluster status|nodes`: the nodes, and whether everything that should run does. */
import type { Command } from 'commander';
import { messageOf } from '../../model/errors.js';
import type { InstanceRecord } from '../../model/instance.js';
import type { NodeRecord } from '../../model/node.js';
import type { DrainProgress } from '../../model/node-drain.js';
import { durationText } from '../../model/words.js';
import { addCommand, type CommandContext, fieldsOf, type SharedOptions, show, tableOf } from '../context.js';
import { describeFileErrors } from '../file-errors.js';
import { visibleInstances } from '../find.js';
import { offeredRuntimes } from '../runtime-text.js';
import { addClusterOperations, describeDrain, markOf } from './cluster-operations.js';
import { countInstances } from './config-commands.js';
import { addTokenCommands } from './token-commands.js';

/** Configurations that are explained in one status: each explanation asks nodes and placement. */
const MAX_EXPLAINED = 20;

const NODE_HEAD = [
  'NODE',
  'ADDRESS',
  'ROLE',
  'CONDITION',
  'INSTANCES',
  'RAM',
  'CPU',
  'RUNTIMES',
  'BEAT',
  'VERSION',
];

export function addClusterCommands(program: Command, context: CommandContext): void {
  const group = program.command('cluster').description('the cluster as a whole');
  addCommand(group, 'status', 'is everything there that should be, and if not, why').action(
    (options: SharedOptions) => status(context, options),
  );
  addCommand(group, 'nodes', 'all nodes, what they run and what is left').action((options: SharedOptions) =>
    nodes(context, options),
  );
  addClusterOperations(group, context);
  addTokenCommands(group, context);
}

async function nodes(context: CommandContext, options: SharedOptions): Promise<void> {
  const listed = listNodes(context);
  await show(
    context,
    options,
    () => listed,
    () =>
      tableOf(
        context,
        NODE_HEAD,
        listed.map((node) => [
          node.nodeId,
          node.address,
          node.master ? 'master' : 'wrapper',
          describeCondition(node),
          node.instances,
          `${node.usedRamMB}/${node.maxRamMB} MB`,
          `${node.usedCpu}/${node.maxCpu}`,
          offeredRuntimes(node.offers),
          node.beatAgeMs === null ? '' : `${durationText(node.beatAgeMs)} ago`,
          node.version,
        ]),
        'no node has joined yet',
      ),
  );
}

interface ListedNode {
  readonly nodeId: string;
  readonly address: string;
  readonly master: boolean;
  readonly condition: NodeRecord['condition'];
  readonly cordoned: boolean;
  /** Null: it is not being drained. */
  readonly drain: DrainProgress | null;
  readonly instances: number;
  readonly usedRamMB: number;
  readonly maxRamMB: number;
  readonly usedCpu: number;
  readonly maxCpu: number;
  /** Keys of those that can be used. */
  readonly runtimes: readonly string[];
  /** All that it knows, with versions, and why not. */
  readonly offers: NodeRecord['runtimes'];
  readonly beatAgeMs: number | null;
  readonly version: string;
}

function listNodes({ dependencies }: CommandContext): ListedNode[] {
  const counts = new Map<string, number>();
  for (const { placement } of visibleInstances(dependencies))
    if (placement !== null) counts.set(placement.nodeId, (counts.get(placement.nodeId) ?? 0) + 1);
  return [...dependencies.nodes.entries()]
    .map(([nodeId, { value }]) => {
      const used = dependencies.usedOf(nodeId);
      const beatAt = dependencies.beats.lastBeatAt(nodeId);
      const { address, master, condition, cordoned, version, capacity } = value;
      return {
        nodeId,
        address,
        master,
        condition,
        cordoned,
        drain: dependencies.drainOf(nodeId) ?? null,
        instances: counts.get(nodeId) ?? 0,
        usedRamMB: used.ramMB,
        maxRamMB: capacity.maxRamMB,
        usedCpu: used.cpu,
        maxCpu: capacity.maxCpu,
        runtimes: value.runtimes.filter(({ available }) => available).map(({ key }) => key),
        offers: value.runtimes,
        beatAgeMs: beatAt === undefined ? null : Math.max(0, dependencies.clock.now() - beatAt),
        version,
      };
    })
    .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
}

async function status(context: CommandContext, options: SharedOptions): Promise<void> {
  const { configuration, configurations, configurationFiles } = context.dependencies;
  const listed = listNodes(context);
  const records = [...visibleInstances(context.dependencies)];
  const below = await belowMinimum(context, records);
  const errors = configurationFiles.errors();
  const states = countBy(records, (record) => record.status.state);
  const conditions = countBy(listed, (node) => node.condition);
  const drains = listed.flatMap(({ nodeId, drain }) => (drain === null ? [] : [{ nodeId, drain }]));
  const data = (): unknown => ({
    clusterName: configuration.clusterName,
    nodes: conditions,
    drains,
    instances: states,
    configurations: configurations.size,
    belowMinimum: below,
    brokenFiles: errors,
  });
  await show(context, options, data, async () => {
    const head = await fieldsOf({
      cluster: configuration.clusterName,
      nodes: `${describeCounts(conditions)}${describeMarks(listed)}`,
      instances: describeCounts(states),
      configurations: configurations.size,
      RAM: `${sum(listed, (node) => node.usedRamMB)} of ${sum(listed, (node) => node.maxRamMB)} MB given out`,
      CPU: `${sum(listed, (node) => node.usedCpu)} of ${sum(listed, (node) => node.maxCpu)} given out (100 = one core)`,
    });
    const wanting = below.map(({ name, online, minimum, why }) => [name, online, minimum, why]);
    const table = await tableOf(
      context,
      ['BELOW MINIMUM', 'ONLINE', 'MINIMUM', 'WHY'],
      wanting,
      'every configuration has its minimum ONLINE',
    );
    const drained = drains.flatMap(({ nodeId, drain }) => describeDrain(nodeId, drain));
    if (drained.length > 0) drained.unshift('');
    return [
      head,
      ...drained,
      '',
      table,
      ...(errors.length === 0 ? [] : ['', ...describeFileErrors(errors)]),
    ].join('\n');
  });
}

function describeCondition({ condition, cordoned, drain }: ListedNode): string {
  const mark = markOf(cordoned, drain ?? undefined);
  return mark === undefined ? condition : `${condition}, ${mark}`;
}

/** ` (1 cordoned, 1 draining)`. */
function describeMarks(listed: readonly ListedNode[]): string {
  const marked = listed.filter(({ cordoned, drain }) => markOf(cordoned, drain ?? undefined) !== undefined);
  const counts = countBy(marked, ({ cordoned, drain }) => markOf(cordoned, drain ?? undefined) ?? '');
  return marked.length === 0 ? '' : ` (${describeCounts(counts)})`;
}

interface BelowMinimum {
  readonly name: string;
  readonly online: number;
  readonly minimum: number;
  readonly why: string;
}

async function belowMinimum(
  { dependencies }: CommandContext,
  records: readonly InstanceRecord[],
): Promise<BelowMinimum[]> {
  const counts = countInstances(records);
  const below: BelowMinimum[] = [];
  const names = [...dependencies.configurations.entries()].map(([name]) => name).sort();
  for (const name of names) {
    const minimum = dependencies.configurations.get(name)?.value.configuration.minimumServiceCount ?? 0;
    const { online = 0, finished = 0 } = counts.get(name) ?? {};
    if (online + finished >= minimum) continue;
    const why =
      below.length < MAX_EXPLAINED
        ? await dependencies.explainer.configuration(name).then(({ verdict }) => verdict, messageOf)
        : `"config why ${name}" says`;
    below.push({ name, online, minimum, why });
  }
  return below;
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(keyOf(item), (counts.get(keyOf(item)) ?? 0) + 1);
  return Object.fromEntries([...counts].sort());
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([key, count]) => `${count} ${key}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function sum<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((total, item) => total + amountOf(item), 0);
}
