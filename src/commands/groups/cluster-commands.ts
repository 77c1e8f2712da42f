/** `cluster status|nodes|why`: the nodes, and whether everything runs that should. */
import type { Command } from 'commander';
import { renderNodeExplanation } from '../../explain/render.js';
import { countText, durationText } from '../../model/words.js';
import {
  type ClusterStatus,
  clusterStatus,
  countBy,
  type ListedNode,
  listNodes,
} from '../../operations/cluster-status.js';
import { addCommand, type CommandContext, fieldsOf, type SharedOptions, show, tableOf } from '../context.js';
import { describeFileErrors, describeRemoved } from '../file-errors.js';
import { findNode } from '../find.js';
import { offeredRuntimes } from '../runtime-text.js';
import { addClusterOperations, describeDrain, markOf } from './cluster-operations.js';
import { addTokenCommands } from './token-commands.js';

/** The most unreadable records that one status names. */
const MOST_UNREADABLE = 20;

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
  addCommand(group, 'why <node>', 'why a node is as it is, and what happens next').action(
    (node: string, options: SharedOptions) => why(context, node, options),
  );
  addClusterOperations(group, context);
  addTokenCommands(group, context);
}

async function nodes(context: CommandContext, options: SharedOptions): Promise<void> {
  const listed = listNodes(context.dependencies);
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

async function status(context: CommandContext, options: SharedOptions): Promise<void> {
  const { dependencies } = context;
  const found = await clusterStatus(dependencies);
  await show(
    context,
    options,
    () => found,
    () => describeStatus(context, found),
  );
}

async function describeStatus(context: CommandContext, found: ClusterStatus): Promise<string> {
  const listed = listNodes(context.dependencies);
  const { brokenFiles, belowMinimum } = found;
  const head = await fieldsOf({
    cluster: found.clusterName,
    nodes: `${describeCounts(found.nodes)}${describeMarks(listed)}`,
    instances: describeCounts(found.instances),
    configurations: found.configurations,
    RAM: `${sum(listed, (node) => node.usedRamMB)} of ${sum(listed, (node) => node.maxRamMB)} MB given out`,
    CPU: `${sum(listed, (node) => node.usedCpu)} of ${sum(listed, (node) => node.maxCpu)} given out (100 = one core)`,
  });
  const table = await tableOf(
    context,
    ['BELOW MINIMUM', 'ONLINE', 'MINIMUM', 'WHY'],
    belowMinimum.map(({ name, online, minimum, why }) => [name, online, minimum, why]),
    'every configuration has its minimum ONLINE',
  );
  const drained = found.drains.flatMap(({ nodeId, drain }) => describeDrain(nodeId, drain));
  if (drained.length > 0) drained.unshift('');
  const broken = brokenFiles.length === 0 ? [] : ['', ...describeFileErrors(brokenFiles)];
  return [
    head,
    ...drained,
    '',
    table,
    ...describeRemoved(found.removed),
    ...broken,
    ...describeUnreadable(found),
    ...(found.apiCertificate?.problem == null ? [] : ['', `TLS of the API: ${found.apiCertificate.problem}`]),
  ].join('\n');
}

function describeUnreadable({ unreadableRecords }: ClusterStatus): string[] {
  if (unreadableRecords.length === 0) return [];
  const kept =
    unreadableRecords.length === 1
      ? 'It is kept as it is, and what it stands for is left alone'
      : 'They are kept as they are, and what they stand for is left alone';
  return [
    '',
    `${countText(unreadableRecords.length, 'stored record')} cannot be read. ${kept}:`,
    ...unreadableRecords.slice(0, MOST_UNREADABLE).map(({ key, problem }) => `  ${key}: ${problem}`),
    ...(unreadableRecords.length > MOST_UNREADABLE
      ? [`  and ${unreadableRecords.length - MOST_UNREADABLE} more ("cluster status -o json" names all)`]
      : []),
  ];
}

async function why(context: CommandContext, node: string, options: SharedOptions): Promise<void> {
  findNode(context.dependencies, node);
  const explanation = await context.dependencies.explainer.node(node);
  await show(
    context,
    options,
    () => explanation,
    () => renderNodeExplanation(explanation),
  );
}

function describeCondition({ condition, cordoned, drain }: ListedNode): string {
  const mark = markOf(cordoned, drain ?? undefined);
  return mark === undefined ? condition : `${condition}, ${mark}`;
}

/** How many nodes are out of service: ` (1 cordoned, 1 draining)`, or nothing. */
function describeMarks(listed: readonly ListedNode[]): string {
  const marked = listed.filter(({ cordoned, drain }) => markOf(cordoned, drain ?? undefined) !== undefined);
  const counts = countBy(marked, ({ cordoned, drain }) => markOf(cordoned, drain ?? undefined) ?? '');
  return marked.length === 0 ? '' : ` (${describeCounts(counts)})`;
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([key, count]) => `${count} ${key}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function sum<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((total, item) => total + amountOf(item), 0);
}
