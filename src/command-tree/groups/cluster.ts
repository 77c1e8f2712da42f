/** `cluster status|nodes|why`: the nodes, and whether everything runs that should. */
import type { NodeExplanation } from '../../explain/explanation.js';
import { countBy } from '../../model/plain/count-by.js';
import { durationText } from '../../model/plain/duration-text.js';
import { instantText } from '../../model/words.js';
import type { ClusterStatus, ListedNode } from '../../operations/cluster-status.js';
import { describe, fieldsOf, noInput, tableOf, type View } from '../command.js';
import { renderNodeExplanation } from '../explanation-text.js';
import { type Columns, declareList, type ListOptions, listOf, type Orders, sortedBy } from '../list.js';
import { offeredRuntimes } from '../runtime-text.js';
import { describeDrain, markOf } from './node-operations.js';

/** How many things that are not well `cluster status` names. */
const MOST_CONCERNS = 50;

const NODE_COLUMNS: Columns<ListedNode> = {
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

const NODE_ORDERS: Orders<ListedNode> = {
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
    declare: (command) => void declareList(command, NODE_ORDERS, ['connected', 'returning', 'lost']),
    input: (options: ListOptions) => options,
    text: (listed: readonly ListedNode[], view, { sort }) =>
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
  const shown = status.concerns.slice(0, MOST_CONCERNS);
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
    ['NOT WELL', 'STATUS', 'SINCE', 'WHY'],
    shown.map(({ name, word, since, text }) => [name, word, since && durationText(view.now - since), text]),
    'everything is well',
  );
  const more = status.concerns.length - shown.length;
  const drained = status.drains.flatMap(({ nodeId, drain }) => describeDrain(nodeId, drain));
  if (drained.length > 0) drained.unshift('');
  const rest = more === 0 ? [] : [`and ${more} more ("cluster status -o json" has all)`];
  return [head, ...drained, '', table, ...rest].join('\n');
}

function describeLeader({ leader, masters }: ClusterStatus): string {
  const others = `of ${masters.length} masters (${masters.join(', ')})`;
  if (leader === null) return `none at the moment, ${others}`;
  return `${leader.nodeId} since ${instantText(leader.since)}, term ${leader.epoch}, ${others}`;
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
