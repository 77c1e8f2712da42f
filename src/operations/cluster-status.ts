/** Describes the cluster: its nodes, and whether everything runs that should run. For `cluster ...` and its route. */

import { z } from 'zod';
import { apiCertificateSchema } from '../channel/trust/api-certificate.js';
import { faultOf } from '../configuration-files/directory.js';
import { CONCERN_KINDS, concernsOf } from '../explain/concerns.js';
import { HEALTH_STATES } from '../explain/health-states.js';
import type { Leader } from '../leadership/leadership.js';
import { configurationFileErrorSchema } from '../model/configuration.js';
import { shownInstanceId } from '../model/names.js';
import { nodeConditionSchema, runtimeOfferSchema } from '../model/node.js';
import { drainProgressSchema } from '../model/node-drain.js';
import { countBy } from '../model/plain/count-by.js';
import { shownWebhookSchema } from '../model/webhook.js';
import { visibleInstances } from '../state/instance-writes.js';
import { listHealth } from './configuration-health.js';
import { listConfigurations, listRemoved, removedConfigurationSchema } from './configuration-list.js';
import type { Reads } from './reads.js';

export const listedNodeSchema = z.object({
  nodeId: z.string(),
  address: z.string(),
  master: z.boolean(),
  condition: nodeConditionSchema,
  cordoned: z.boolean().describe('true: the node gets no new instances'),
  drain: drainProgressSchema.nullable().describe('the progress of a drain; null: there is none'),
  instances: z.int().describe('how many instances are placed on the node'),
  usedRamMB: z.int().describe('the RAM that placement has given out'),
  maxRamMB: z.int(),
  usedCpu: z.int().describe('the CPU that placement has given out; 100 = one core'),
  maxCpu: z.int(),
  runtimes: z.array(z.string()).describe('keys of the runtimes that the node can use'),
  offers: z.array(runtimeOfferSchema).describe('all runtimes that the node knows'),
  beatAgeMs: z
    .number()
    .nullable()
    .describe('the time since its last sign of life; null: none since the master started'),
  version: z.string(),
});
export type ListedNode = z.output<typeof listedNodeSchema>;

const leaderSchema = z.object({
  nodeId: z.string(),
  epoch: z.int().describe('the number of the term; 0: the cluster has one master'),
  since: z.number().describe("the beginning of the term, in Unix milliseconds by the leader's clock"),
});

const concernSchema = z.object({
  kind: z.enum([...HEALTH_STATES, ...CONCERN_KINDS]),
  tone: z
    .enum(['bad', 'busy', 'still', 'good'])
    .describe('bad: somebody must act; busy: it may still come right'),
  name: z.string().describe('the configuration, node, file, webhook or record'),
  word: z.string().describe('the kind for a person, with its numbers'),
  text: z.string(),
  since: z.number().nullable().describe('Unix milliseconds; null: not known'),
  instance: shownInstanceId.nullable().describe('the instance that is meant'),
});

const counts = z.record(z.string(), z.int());

export const clusterStatusSchema = z.object({
  clusterName: z.string(),
  leader: leaderSchema.nullable().describe('the master that leads; null: no master leads now'),
  masters: z.array(z.string()).describe('the nodes whose masters are up'),
  nodes: counts.describe('how many nodes are in each condition'),
  drains: z.array(z.object({ nodeId: z.string(), drain: drainProgressSchema })),
  instances: counts.describe('how many instances are in each state'),
  configurations: z.int().describe('how many configurations are in force'),
  concerns: z.array(concernSchema).describe('what is not well, the worst first'),
  belowMinimum: z
    .array(z.object({ name: z.string(), online: z.int(), minimum: z.int(), why: z.string() }))
    .describe(
      'configurations with fewer instances ONLINE than their minimum; one that fails again and again is none',
    ),
  removed: z
    .array(removedConfigurationSchema)
    .describe('configurations that are gone but still have instances'),
  brokenFiles: z.array(configurationFileErrorSchema),
  undelivered: z.array(shownWebhookSchema).describe('webhooks whose receivers take nothing'),
  unreadableRecords: z
    .array(
      z.object({
        key: z.string().describe('the key in the store, such as `instances/ab12cd`'),
        problem: z.string().describe('the fault of the record'),
      }),
    )
    .describe('stored records that cannot be read: the records and their instances stay as they are'),
  apiCertificate: apiCertificateSchema.nullable().describe('null: the API has no TLS'),
});
export type ClusterStatus = z.output<typeof clusterStatusSchema>;

/** All nodes, by id. `sees`: limits the counted instances to these configurations; absent: all are counted. */
export function listNodes(needs: Reads, sees?: (configurationName: string) => boolean): ListedNode[] {
  const placed = new Map<string, number>();
  for (const { placement, configurationName } of visibleInstances(needs))
    if (placement !== null && sees?.(configurationName) !== false)
      placed.set(placement.nodeId, (placed.get(placement.nodeId) ?? 0) + 1);
  return [...needs.nodes.entries()]
    .map(([nodeId, { value }]) => {
      const used = needs.usedOf(nodeId);
      const beatAt = needs.beats.lastBeatAt(nodeId);
      const { address, master, condition, cordoned, version, capacity } = value;
      return {
        nodeId,
        address,
        master,
        condition,
        cordoned,
        drain: needs.drainOf(nodeId) ?? null,
        instances: placed.get(nodeId) ?? 0,
        usedRamMB: used.ramMB,
        maxRamMB: capacity.maxRamMB,
        usedCpu: used.cpu,
        maxCpu: capacity.maxCpu,
        runtimes: value.runtimes.filter(({ available }) => available).map(({ key }) => key),
        offers: [...value.runtimes],
        beatAgeMs: beatAt === undefined ? null : Math.max(0, needs.clock.now() - beatAt),
        version,
      };
    })
    .sort((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
}

export function clusterStatus(needs: Reads): ClusterStatus {
  const nodes = listNodes(needs);
  const failing = needs.webhooks().filter(({ problem }) => problem !== null);
  const undelivered = failing.filter(({ failingSince }) => failingSince !== null);
  const faults = failing.filter(({ failingSince }) => failingSince === null);
  const brokenFiles = [
    ...needs.configurationFiles.errors(),
    ...faults.map(({ name, problem }) => faultOf(`webhooks/${name}.json`, problem ?? '')),
  ];
  const unreadableRecords = [...needs.unreadable()];
  const apiCertificate = needs.apiCertificate?.describe(needs.clock.now()) ?? null;
  return {
    clusterName: needs.configuration.clusterName,
    leader: describeLeader(needs.leadership.leader()),
    masters: needs.leadership.masters().map(({ nodeId }) => nodeId),
    nodes: countBy(nodes, ({ condition }) => condition),
    drains: nodes.flatMap(({ nodeId, drain }) => (drain === null ? [] : [{ nodeId, drain }])),
    instances: countBy([...visibleInstances(needs)], ({ status }) => status.state),
    configurations: [...needs.configurations.entries()].length,
    concerns: concernsOf({
      configurations: listHealth(needs),
      nodes,
      brokenFiles,
      undelivered,
      unreadableRecords,
      certificateProblem: apiCertificate?.problem ?? null,
    }),
    belowMinimum: findBelowMinimum(needs),
    removed: listRemoved(needs),
    brokenFiles,
    undelivered,
    unreadableRecords,
    apiCertificate,
  };
}

function describeLeader(leader: Leader | null): ClusterStatus['leader'] {
  return leader && { nodeId: leader.nodeId, epoch: leader.epoch, since: leader.since };
}

function findBelowMinimum(needs: Reads): ClusterStatus['belowMinimum'] {
  return listConfigurations(needs)
    .filter(({ online, finished, minimum }) => online + finished < minimum)
    .map(({ name, online, minimum, health: { text, detail } }) => {
      const why = detail === null ? `${name}: ${text}` : `${name}: ${text}: ${detail}`;
      return { name, online, minimum, why };
    });
}
