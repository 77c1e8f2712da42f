/** Nodes: what a node tells when it joins, what the master stores about it, and the settings in `config.json`. */
import { hostname } from 'node:os';
import { z } from 'zod';
import { addressSchema, nameSchema, portSchema, runAsSchema } from './names.js';
import { drainSchema } from './node-drain.js';
import { CLUSTER_COLORS } from './plain/cluster-colors.js';
import { CONFIGURATION_WRITES } from './plain/configuration-writes.js';
import { storeSettingsSchema } from './settings/store-settings.js';

/** A runtime, and whether the node can use it. */
export const runtimeOfferSchema = z.object({
  key: nameSchema,
  available: z.boolean(),
  version: z.string().nullable(),
  /** Why the runtime is not available, for a person; null: it is available. */
  reason: z.string().nullable(),
});
export type RuntimeOffer = z.output<typeof runtimeOfferSchema>;

export const nodeCapacitySchema = z.object({ maxRamMB: z.int().min(1), maxCpu: z.int().min(1) });
export type NodeCapacity = z.output<typeof nodeCapacitySchema>;

/** `connected`: beats arrive. `returning`: the node said that it will be back. `lost`: no beat for nodeTimeoutMs. */
export const nodeConditionSchema = z.enum(['connected', 'returning', 'lost']);
export type NodeCondition = z.output<typeof nodeConditionSchema>;

export const nodeRecordSchema = z.object({
  nodeId: nameSchema,
  address: z.string(),
  master: z.boolean(),
  capacity: nodeCapacitySchema,
  runtimes: z.array(runtimeOfferSchema),
  /** Why limits of RAM and CPU have no effect on the node; null: they have; absent: the node did not say. */
  advisoryLimits: z.string().nullable().optional(),
  /** The fields of NODE_FIELDS that the node knows; absent: none, as in older versions. */
  knows: z.array(z.string()).optional(),
  /** True when the node gets no new instances. */
  cordoned: z.boolean(),
  /** The node's instances are moved away; absent: they stay. A drained node is cordoned too. */
  drain: drainSchema.optional(),
  condition: nodeConditionSchema,
  /** When the condition last changed, Unix milliseconds of the wall clock. */
  conditionSince: z.number(),
  version: z.string(),
});
export type NodeRecord = z.output<typeof nodeRecordSchema>;

const DEFAULT_PORT = 6000;

const nodeFieldsSchema = z.strictObject({
  address: addressSchema.default('127.0.0.1').describe('address advertised to the cluster and to clients'),
  port: portSchema.default(DEFAULT_PORT).describe('cluster port'),
  apiPort: portSchema.default(7000).describe('REST port'),
  nodeId: nameSchema.prefault(() => defaultNodeId()).describe('unique node identifier'),
  clusterName: nameSchema.default('drover').describe('cluster name shared by all members'),
  clusterColor: z
    .enum(CLUSTER_COLORS)
    .optional()
    .describe('colour of the cluster in the dashboard, so that nobody acts on the wrong cluster'),
  isMasterNode: z.boolean().default(true).describe('runs the API and owns authoritative state'),
  masterAddress: addressSchema.default('127.0.0.1'),
  masterPort: portSchema.default(6000),
  masterApiPort: portSchema.default(7000),
  debug: z.boolean().default(false).describe('verbose logging'),
  maxRamMB: z.int().min(1).optional().describe('RAM for instances in MB; default: 90 % of the machine'),
  maxCpu: z
    .int()
    .min(1)
    .optional()
    .describe('CPU units for instances, 100 = 1 core; default: all cores, cpuOvercommit times'),
  cpuOvercommit: z
    .number()
    .min(0.001)
    .max(1000)
    .default(4)
    .describe('how many times placement gives out each core when maxCpu is not set'),
  bindAddress: addressSchema
    .optional()
    .describe('default: loopback when address is loopback, else all interfaces'),
  apiTls: z
    .union([
      z.literal('cluster'),
      z.strictObject({
        certificate: z.string().min(1).describe('PEM file, followed by the certificates of its issuers'),
        key: z.string().min(1).describe('PEM file'),
      }),
    ])
    .optional()
    .describe(
      "TLS on apiPort: with a certificate of the cluster's own authority, or with files; default: none",
    ),
  apiNames: z
    .array(addressSchema)
    .max(64)
    .optional()
    .describe("more host names and IP addresses for the certificate of the cluster's own authority"),
  store: storeSettingsSchema
    .default({ kind: 'lmdb' })
    .describe('where a master keeps its state: a file of its own, or an etcd cluster'),
  configurationWrites: z
    .enum(CONFIGURATION_WRITES)
    .optional()
    .describe(
      'where changes through the API go: into the files, into the state as overrides, or nowhere; default: state where git tracks files of configurations/, else file',
    ),
  nodeTimeoutMs: z.int().min(4000).max(3_600_000).default(6000),
  maxUploadMB: z.int().min(1).max(1_048_576).default(512),
  instanceLogs: z
    .strictObject({
      segmentMB: z.int().min(1).max(1024).default(8),
      segments: z.int().min(2).max(64).default(4),
    })
    .prefault({}),
  dashboard: z.boolean().default(true).describe('serve the dashboard at /ui/ of apiPort'),
  metricsNeedKey: z.boolean().default(false).describe('answer /metrics to callers with an API key only'),
  joinToken: z.string().min(1).optional(),
  runAs: runAsSchema
    .optional()
    .describe('user of instances whose configuration names none; default: the one that Drover runs as'),
  logLevel: z.enum(['trace', 'debug', 'info', 'warn', 'error']).default('info'),
});

export const nodeConfigurationSchema = nodeFieldsSchema.check(({ value, issues }) => {
  const { isMasterNode, port, apiPort } = value;
  if (!isMasterNode || port !== apiPort) return;
  // The field with the default value is probably not in the file, so the message names the other field.
  const [field, other] = port === DEFAULT_PORT ? ['apiPort', 'port'] : ['port', 'apiPort'];
  const message = `must differ from ${other}: nodes connect to port, clients to apiPort`;
  issues.push({ code: 'custom', path: [field], message, input: port });
});

/** `config.json` with every default filled in. */
export type NodeConfiguration = z.output<typeof nodeConfigurationSchema>;

/** The host name, made to fit the name pattern; `node` when nothing of it fits. */
export function defaultNodeId(host: string = hostname()): string {
  const cleaned = host
    .replace(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64);
  return cleaned === '' ? 'node' : cleaned;
}
