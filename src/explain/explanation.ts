/**
 * Explanations as data: the answers of the routes `.../why` of instances, configurations and nodes, printed by
 * `instance why`, `config why` and `cluster why`. Written for a person in a hurry: the verdict first, then the numbers.
 */
import { z } from 'zod';
import { shownInstanceId } from '../model/names.js';
import { nodeConditionSchema } from '../model/node.js';
import { drainProgressSchema } from '../model/node-drain.js';
import { healthSchema } from './health.js';

/** The most nodes, instances or port holders in one explanation. Totals say how many there are. */
export const MOST_LISTED = 100;

/** The verdict of one node on one instance or configuration. */
const nodeVerdictSchema = z.object({
  nodeId: z.string(),
  fits: z.boolean(),
  failed: z
    .string()
    .nullable()
    .describe('short code of the first condition that failed (`ram`, `port`, ...); null: it fits'),
  message: z.string().describe('in numbers: `needs 2048 MB of RAM, 512 MB of 4096 MB free`'),
});
export type NodeVerdict = z.output<typeof nodeVerdictSchema>;

const portHolderSchema = z.object({
  port: z.int(),
  nodeId: z.string(),
  instanceId: shownInstanceId.nullable().describe('null: a program that is not ours'),
  configurationName: z.string().nullable(),
  instanceNodeId: z.string().nullable().describe('another node than nodeId: it has the same host address'),
  protocol: z.string().nullable().describe('of a program that is not ours: tcp or udp'),
  foundAgoMs: z.int().nullable().describe('since a program that is not ours was found there'),
});
export type PortHolder = z.output<typeof portHolderSchema>;

const portRangeSchema = z
  .object({
    min: z.int(),
    max: z.int(),
    name: z.string().optional().describe('of the port; absent: the main one'),
  })
  .nullable();

const pastExitSchema = z.object({
  at: z.number().describe("Unix milliseconds, by the node's clock"),
  agoMs: z.int(),
  begunAt: z
    .number()
    .optional()
    .describe('when its start was asked for, as `at`; absent: its node does not know'),
  mostMemoryBytes: z
    .number()
    .optional()
    .describe('the most it was measured with, every 10 s; absent: it never was'),
  run: z.int().describe('which start of the instance, counted from 1'),
  code: z.int().nullable(),
  signal: z.string().nullable(),
  cause: z.string().optional().describe('what neither code nor signal can tell'),
  wasAsked: z.boolean().describe('it ended in a stop or restart that was asked for'),
  lastLines: z.array(z.string()).describe('what it wrote last, oldest first, as plain text'),
  linesNote: z.string().nullable().describe('why there are no lines; null: there are'),
});
export type PastExit = z.output<typeof pastExitSchema>;

export const instanceRunsSchema = z.object({
  instanceId: shownInstanceId,
  current: z
    .object({ run: z.int(), upForMs: z.number() })
    .nullable()
    .describe('the run that is up; null: none is'),
  runs: z.array(pastExitSchema).describe('those that ended, the last one first; its node remembers 5'),
});
export type InstanceRuns = z.output<typeof instanceRunsSchema>;

const told = {
  verdict: z.string().describe('one sentence: what is the matter'),
  next: z.string().nullable().describe('what happens next by itself; null: nothing'),
  advice: z.string().nullable().describe('what the operator can do; null: nothing needs doing'),
  notes: z.array(z.string()).describe('what else is worth knowing'),
  isSettled: z.boolean().describe('desired and actual agree'),
};

export const instanceExplanationSchema = z.object({
  instanceId: shownInstanceId,
  configurationName: z.string(),
  ...told,
  desired: z.string().describe('run or stop'),
  actual: z.string().describe('state'),
  reason: z.string().nullable(),
  message: z.string().nullable(),
  node: z.string().nullable(),
  nodeCondition: z.string().nullable().describe('connected, returning or lost'),
  nodeAnswer: z
    .string()
    .nullable()
    .describe('why the node could not be asked, so that this is what the master knows; null: it was asked'),
  port: z.int().nullable(),
  ports: z.string().nullable().describe('its named ports, such as `query=27016/udp`; null: it has none'),
  processPid: z.int().nullable(),
  upForMs: z.int().nullable(),
  restarts: z.int(),
  failuresInARow: z.int(),
  retryInMs: z.int().nullable().describe('time to the next try; null: none is put off'),
  stopSignal: z.string().nullable().describe('last signal of a stop under way'),
  killInMs: z.int().nullable().describe('time until SIGKILL follows'),
  configurationRevision: z.string(),
  isRevisionCurrent: z
    .boolean()
    .nullable()
    .describe('made from what the configuration says now; null: it was removed'),
  nodes: z.array(nodeVerdictSchema).describe('when it waits for a node or a port'),
  nodesTotal: z.int(),
  portRange: portRangeSchema,
  portHolders: z.array(portHolderSchema).describe('when no port of its range is free'),
  portHoldersTotal: z.int(),
  exits: z.array(pastExitSchema).describe('newest first'),
});
export type InstanceExplanation = z.output<typeof instanceExplanationSchema>;

const configurationFileSchema = z.object({
  name: z.string(),
  isInForce: z
    .boolean()
    .describe(
      'false: the content in force is older than the file, or of another file; without an error it is held back',
    ),
  error: z.string().nullable(),
  line: z.int().nullable(),
  column: z.int().nullable(),
  field: z.string().nullable(),
  git: z
    .string()
    .nullable()
    .describe(
      'how the file and its directory stand in git; null: in no work tree of the master that answers',
    ),
});
export type ExplainedFile = z.output<typeof configurationFileSchema>;

const rowFields = {
  state: z.string(),
  isSettled: z.boolean(),
  verdict: z.string().describe('to be read after the id'),
};

export const configurationExplanationSchema = z.object({
  configurationName: z.string(),
  ...told,
  health: healthSchema.optional().describe('the health, as one word with its reason'),
  isInForce: z.boolean().describe('false: there is only a broken file, or instances that are left of it'),
  minimum: z.int().nullable(),
  maximum: z.int().nullable(),
  actual: z.int().describe('instances that count towards the minimum'),
  online: z
    .int()
    .describe('instances that should run and are ONLINE, without those that fail again and again'),
  nextCreationInMs: z.int().nullable().describe('the delay while new instances do not stay; null: none'),
  files: z.array(configurationFileSchema),
  nodes: z.array(nodeVerdictSchema).describe('where one more instance would fit'),
  nodesTotal: z.int(),
  portRange: portRangeSchema,
  portHolders: z.array(portHolderSchema).describe('of nodes without a free port'),
  portHoldersTotal: z.int(),
  instances: z.array(z.object({ instanceId: shownInstanceId, ...rowFields })),
  instancesTotal: z.int(),
});
export type ConfigurationExplanation = z.output<typeof configurationExplanationSchema>;

export const nodeExplanationSchema = z.object({
  nodeId: z.string(),
  ...told,
  condition: nodeConditionSchema,
  conditionForMs: z.int(),
  silentMs: z.int().nullable().describe('since its last beat; null: none since the master started'),
  cordoned: z.boolean().describe('it gets no new instances'),
  drain: drainProgressSchema.nullable().describe('null: its instances are not being moved away'),
  usedRamMB: z.int().describe('what placement has given out'),
  maxRamMB: z.int(),
  usedCpu: z.int().describe('100 = one core'),
  maxCpu: z.int(),
  instances: z
    .array(z.object({ instanceId: shownInstanceId, configurationName: z.string(), ...rowFields }))
    .describe('those that are not well come first'),
  instancesTotal: z.int(),
});
export type NodeExplanation = z.output<typeof nodeExplanationSchema>;
