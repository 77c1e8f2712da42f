/**
 * `/cluster/nodes`, `/cluster/status`, `/cluster/configurations` and `/cluster/removed-configurations`: the known
 * nodes, connected or not, and the cluster as a whole.
 */

import { z } from 'zod';
import { DroverError, invalidRequest } from '../../model/errors.js';
import { instanceInfoSchema } from '../../model/instance.js';
import {
  type NodeRecord,
  nodeCapacitySchema,
  nodeConditionSchema,
  runtimeOfferSchema,
} from '../../model/node.js';
import { type DrainProgress, drainProgressSchema } from '../../model/node-drain.js';
import type { InstanceUsage } from '../../model/run/instance-usage.js';
import { unknownNode } from '../../model/unknown.js';
import {
  clusterStatus,
  clusterStatusSchema,
  listedNodeSchema,
  listNodes,
} from '../../operations/cluster-status.js';
import {
  configurationSummarySchema,
  listConfigurations,
  listRemoved,
  removedConfigurationSchema,
} from '../../operations/configuration-list.js';
import type { Reads } from '../../operations/reads.js';
import { accessOf, seesConfiguration } from '../gate/auth.js';
import { defineRoute, flag, jsonAnswer, type Route } from '../http/route.js';

const BYTES_PER_MB = 1024 * 1024;

const nodeParams = z.object({ id: z.string().describe('node id') });
const listQuery = z.object({ details: flag.describe('add condition, load, runtimes and version') });
const commandBody = z.object({ command: z.string().describe('a console command') });

export const summarySchema = z.object({
  nodeId: z.string(),
  address: z.string(),
  master: z.boolean(),
  resources: z
    .object({ usedRamMB: z.int(), usedCpu: z.int().describe('100 = one core') })
    .describe('the RAM and CPU that placement has given out'),
});

const usageSchema = z.object({
  cpuPercent: z.number().describe('100 = one core'),
  memoryMB: z.int(),
  processes: z.int(),
});

const nodeStateSchema = summarySchema.extend({
  capacity: nodeCapacitySchema,
  condition: nodeConditionSchema.describe(
    '`returning`: the node said that it will be back; `lost`: its beats are missing',
  ),
  conditionSince: z.number().describe('Unix milliseconds'),
  cordoned: z.boolean().describe('true: the node gets no new instances'),
  drain: drainProgressSchema.nullable().describe('the progress of a drain; null: there is none'),
  runtimes: z.array(runtimeOfferSchema),
  advisoryLimits: z
    .string()
    .nullable()
    .describe('why the node does not enforce ramMB and cpu; null: it does'),
  version: z.string(),
});
export type NodeState = z.output<typeof nodeStateSchema>;

export const detailSchema = nodeStateSchema.extend({
  instances: z.array(instanceInfoSchema).describe('the instances on the node, oldest first'),
  lastBeat: z
    .number()
    .nullable()
    .describe(
      'the last beat, in Unix milliseconds by the clock of the master; null: none since the master started',
    ),
  usage: usageSchema.nullable().describe('the usage of all instances on the node; null: it was not measured'),
});
export type NodeDetail = z.output<typeof detailSchema>;

/** A node without the fields that change with each beat, and without its instances. */
export function nodeStateOf(needs: Reads, node: NodeRecord): NodeState {
  const { nodeId, capacity, condition, conditionSince, cordoned, runtimes, version } = node;
  return {
    ...summaryOf(needs, node),
    capacity,
    condition,
    conditionSince,
    cordoned,
    drain: needs.drainOf(nodeId) ?? null,
    runtimes,
    advisoryLimits: node.advisoryLimits ?? null,
    version,
  };
}

export const clusterRoutes: readonly Route[] = [
  defineRoute('GET', '/cluster/nodes', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'All nodes that the master knows, by id.',
    query: listQuery,
    answers: jsonAnswer(
      'nodes; with `details=true` everything that `cluster nodes` shows',
      z.array(z.union([listedNodeSchema, summarySchema])),
    ),
    handle: ({ query, request }, needs) => {
      if (query.details === 'true')
        return listNodes(needs, (name) => seesConfiguration(request, name)).map((node) => ({
          ...node,
          drain: accessOf(request)?.configurations == null ? node.drain : drainShown(node.drain),
        }));
      return [...needs.nodes.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, { value }]) => summaryOf(needs, value));
    },
  }),
  defineRoute('GET', '/cluster/nodes/:id', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'One node, with its instances, its capacity and its runtimes.',
    errors: ['DRV_NODE_UNKNOWN'],
    params: nodeParams,
    answers: jsonAnswer('the node', detailSchema),
    handle: ({ params: { id }, request }, needs): z.output<typeof detailSchema> => {
      const node = needs.nodes.get(id)?.value;
      if (node === undefined) throw unknownNode(id);
      return {
        ...nodeStateOf(needs, node),
        ...(accessOf(request)?.configurations != null && { drain: drainShown(needs.drainOf(id) ?? null) }),
        instances: needs.view
          .onNode(id)
          .filter(({ configurationName }) => seesConfiguration(request, configurationName)),
        lastBeat: needs.beats.lastBeatAt(id) ?? null,
        usage: usageOf(needs.usageOfNode(id)),
      };
    },
  }),
  // Refuses commands for nodes. Commands run on the serving node only, through `POST /commands/execute`.
  defineRoute('POST', '/cluster/nodes/:id', {
    scope: 'ALL',
    summary:
      'Not implemented for other nodes; refused for the serving node, which has POST /commands/execute.',
    errors: ['DRV_NODE_UNKNOWN', 'DRV_NOT_IMPLEMENTED'],
    params: nodeParams,
    body: commandBody,
    answers: {},
    handle: ({ params: { id } }, { configuration, nodes }) => {
      if (id === configuration.nodeId)
        throw invalidRequest('cannot execute command on local node via API: use POST /api/commands/execute');
      if (nodes.get(id) === undefined) throw unknownNode(id);
      throw new DroverError(
        'DRV_NOT_IMPLEMENTED',
        'executing commands on other nodes is not implemented: POST /api/commands/execute runs them on the master',
      );
    },
  }),
  defineRoute('GET', '/cluster/status', {
    scope: 'READ',
    summary: 'Whether everything runs that should run, and if not, the reason.',
    answers: jsonAnswer('the cluster as a whole', clusterStatusSchema),
    handle: (_call, needs) => clusterStatus(needs),
  }),
  defineRoute('GET', '/cluster/configurations', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'All configurations by name, with the number of their instances.',
    answers: jsonAnswer('configurations', z.array(configurationSummarySchema)),
    handle: async ({ request }, needs) =>
      listConfigurations(needs, (await needs.configurationFiles.inGit()).files).filter(({ name }) =>
        seesConfiguration(request, name),
      ),
  }),
  defineRoute('GET', '/cluster/removed-configurations', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Configurations that are gone but still have instances, by name.',
    answers: jsonAnswer('names, with the number of instances left', z.array(removedConfigurationSchema)),
    handle: ({ request }, needs) => listRemoved(needs).filter(({ name }) => seesConfiguration(request, name)),
  }),
];

function summaryOf(
  dependencies: Reads,
  { nodeId, address, master }: NodeRecord,
): z.output<typeof summarySchema> {
  const { ramMB, cpu } = dependencies.usedOf(nodeId);
  return { nodeId, address, master, resources: { usedRamMB: ramMB, usedCpu: cpu } };
}

/**
 * The drain as a key sees it that is restricted to configurations. The instances that the drain waits for are left
 * out, because the key may not see all of them.
 */
export function drainShown(drain: DrainProgress | null): DrainProgress | null {
  return drain === null ? null : { ...drain, waitingFor: [] };
}

function usageOf(usage: InstanceUsage | undefined): z.output<typeof usageSchema> | null {
  if (usage === undefined) return null;
  return {
    cpuPercent: Math.round((usage.cpuPercent ?? 0) * 10) / 10,
    memoryMB: Math.round(usage.memoryBytes / BYTES_PER_MB),
    processes: usage.processes,
  };
}
