/** `cluster status|nodes|why`: the nodes, and whether everything runs that should. */
import type { NodeExplanation } from '../../explain/explanation.js';
import { renderNodeExplanation } from '../../explain/render.js';
import { countBy } from '../../model/plain/count-by.js';
import { countText, durationText, instantText } from '../../model/words.js';
import type { ClusterStatus, ListedNode } from '../../operations/cluster-status.js';
import {
  type Columns,
  declareSort,
  describe,
  fieldsOf,
  listOf,
  noInput,
  type Orders,
  sortedBy,
  tableOf,
  type View,
} from '../command.js';
import { describeFileErrors, describeRemoved } from '../file-errors.js';
import { offeredRuntimes } from '../runtime-text.js';
import { describeDrain, markOf } from './drain-text.js';

/** The most unreadable records that `cluster status` names. */
const MOST_UNREADABLE = 20;

export const NODE_COLUMNS: Columns<ListedNode> = {
  NODE: ({ nodeId }) => nodeId,
  ADDRESS: ({ address }) => address,
  ROLE: ({ master }) => (master ? 'master' : 'wrapper'),
  CONDITION: describeCondition,
  INSTANCES: ({ instances }) => instances,
  RAM: ({ usedRamMB, maxRamMB }) => `${usedRamMB}/${maxRamMB} MB`,
  CPU: ({ usedCpu, maxCpu }) => `${usedCpu}/${maxCpu}`,
  RUNTIMES: ({ offers }) => offeredRuntimes(offers),
  BEAT: ({ beatAgeMs }) => (beatAgeMs === null ? '' : `${durationText(beatAgeMs)} ago`),
  VERSION: ({ version }) => version,
};

export const NODE_ORDERS: Orders<ListedNode> = {
  'not-well': ({ condition, cordoned }) => (condition === 'connected' ? (cordoned ? 1 : 2) : 0),
  name: ({ nodeId }) => nodeId,
  instances: ({ instances }) => -instances,
  ram: ({ usedRamMB, maxRamMB }) => -usedRamMB / maxRamMB,
};

/** The status of the cluster, and the nodes, from which the totals are added up. */
interface ClusterOverview {
  readonly status: ClusterStatus;
  readonly nodes: readonly ListedNode[];
}

export const CLUSTER_COMMANDS = {
  'cluster status': describe({
    about: 'is everything there that should be, and if not, why',
    input: noInput,
    text: (overview: ClusterOverview, view) => describeStatus(overview, view),
    json: ({ status }) => status,
    names: ({ status }) => [status.clusterName],
  }),
  'cluster nodes': describe({
    about: 'all nodes, what they run and what is left',
    declare: (command) => void declareSort(command, NODE_ORDERS),
    input: (options: { readonly sort?: string }) => options,
    text: (listed: readonly ListedNode[], view, { sort = 'not-well' }) =>
      listOf(view, NODE_COLUMNS, sortedBy(listed, NODE_ORDERS, sort), 'no node has joined yet'),
    names: (listed) => listed.map(({ nodeId }) => nodeId),
  }),
  'cluster why': describe({
    usage: '<node>',
    about: 'why a node is as it is, and what happens next',
    input: (node: string) => ({ node }),
    text: (explanation: NodeExplanation, { columns }) => renderNodeExplanation(explanation, columns),
  }),
};

function describeStatus({ status, nodes }: ClusterOverview, view: View): string {
  const { brokenFiles, belowMinimum } = status;
  const head = fieldsOf({
    cluster: status.clusterName,
    ...(status.masters.length > 1 && { leader: describeLeader(status) }),
    nodes: `${describeCounts(status.nodes)}${describeMarks(nodes)}`,
    instances: describeCounts(status.instances),
    configurations: status.configurations,
    RAM: `${sum(nodes, (node) => node.usedRamMB)} of ${sum(nodes, (node) => node.maxRamMB)} MB given out`,
    CPU: `${sum(nodes, (node) => node.usedCpu)} of ${sum(nodes, (node) => node.maxCpu)} given out (100 = one core)`,
  });
  const table = tableOf(
    view,
    ['BELOW MINIMUM', 'ONLINE', 'MINIMUM', 'WHY'],
    belowMinimum.map(({ name, online, minimum, why }) => [name, online, minimum, why]),
    'every configuration has its minimum ONLINE',
  );
  const drained = status.drains.flatMap(({ nodeId, drain }) => describeDrain(nodeId, drain));
  if (drained.length > 0) drained.unshift('');
  const broken = brokenFiles.length === 0 ? [] : ['', ...describeFileErrors(brokenFiles)];
  return [
    head,
    ...drained,
    '',
    table,
    ...describeRemoved(status.removed),
    ...broken,
    ...describeUnreadable(status),
    ...(status.apiCertificate?.problem == null
      ? []
      : ['', `TLS of the API: ${status.apiCertificate.problem}`]),
  ].join('\n');
}

function describeLeader({ leader, masters }: ClusterStatus): string {
  const others = `of ${masters.length} masters (${masters.join(', ')})`;
  if (leader === null) return `none at the moment, ${others}`;
  return `${leader.nodeId} since ${instantText(leader.since)}, term ${leader.epoch}, ${others}`;
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

function describeCondition({ condition, cordoned, drain }: ListedNode): string {
  const mark = markOf(cordoned, drain ?? undefined);
  return mark === undefined ? condition : `${condition}, ${mark}`;
}

/** How many nodes are out of service: ` (1 cordoned, 1 draining)`, or nothing. */
function describeMarks(listed: readonly ListedNode[]): string {
  const marks = listed.flatMap(({ cordoned, drain }) => markOf(cordoned, drain ?? undefined) ?? []);
  return marks.length === 0 ? '' : ` (${describeCounts(countBy(marks, (mark) => mark))})`;
}

function describeCounts(counts: Readonly<Record<string, number>>): string {
  const parts = Object.entries(counts).map(([key, count]) => `${count} ${key}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function sum<T>(items: readonly T[], amountOf: (item: T) => number): number {
  return items.reduce((total, item) => total + amountOf(item), 0);
}
