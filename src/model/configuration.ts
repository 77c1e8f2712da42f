/**
 * The configuration of instances, as an operator writes it. The schema is the only place that knows its fields, limits
 * and defaults; files, API and OpenAPI all use it.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { exposeSchema } from './fields/expose.js';
import { fileEditsSchema, workspacePathSchema } from './fields/file-edit.js';
import { afterSchema, commandSchema, prepareSchema } from './fields/hooks.js';
import { jobSchema } from './fields/job.js';
import { limitsSchema } from './fields/limits.js';
import { ownPortFault, portFaults, sharePortSchema, wantedPortsSchema } from './fields/ports.js';
import { secretFilesSchema, secretsIn, secretsOf } from './fields/secret.js';
import { waitsForSchema } from './fields/waits-for.js';
import { livenessSchema } from './liveness.js';
import { nameSchema, portSchema, runAsSchema } from './names.js';
import { MAX_SERVICE_COUNT } from './plain/command-limits.js';
import { DEFAULT_MINIMUM } from './plain/configuration-defaults.js';
import { portField, readinessSchema } from './readiness.js';
import { schedulesSchema, windowsSchema } from './schedule.js';
import {
  restartPolicySchema,
  stopCommandSchema,
  stopSignalSchema,
  stopTimeoutSecondsSchema,
  stopToSchema,
} from './stopping.js';
import { templateInstallationSchema } from './template.js';
import { updateSchema } from './update.js';

const FORBIDDEN_KEYS = new Set(['__proto__', 'constructor', 'prototype']);
const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,127}$/;
const MAX_VALUE_CHARS = 32_768;
const MAX_ENTRIES = 512;

export const portRangeSchema = z
  .object({ min: portSchema, max: portSchema })
  .refine((range) => range.min <= range.max, { path: ['min'], error: 'must not be greater than max' });

/** A map of texts whose keys can never reach an object's prototype. Values hold no NUL. */
const stringMapSchema = z
  .record(
    z
      .string()
      .regex(
        VARIABLE_NAME,
        'key must start with a letter or "_" and hold only letters, digits, "_", "." and "-"',
      )
      .refine((key) => !FORBIDDEN_KEYS.has(key), { error: 'key is not allowed' }),
    z
      .string()
      .max(MAX_VALUE_CHARS)
      .refine((value) => !value.includes('\0'), { error: 'must not contain a NUL character' }),
  )
  .refine((map) => Object.keys(map).length <= MAX_ENTRIES, {
    error: `must have at most ${MAX_ENTRIES} entries`,
  });

/** The fields that are maps of texts. */
export const TEXT_MAPS = ['environmentVariables', 'properties'] as const;

/**
 * The fault of a map of texts that has too many entries. Asked before the schema, which would look at each entry first.
 */
export function overfullMap(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { length } = Object.keys(value);
  return length > MAX_ENTRIES ? `must have at most ${MAX_ENTRIES} entries, has ${length}` : undefined;
}

/** `spread`: the node with the fewest instances of the configuration. `pack`: the fullest node. */
const placementOrderSchema = z.enum(['spread', 'pack']);
export type PlacementOrder = z.output<typeof placementOrderSchema>;

const fieldsSchema = z.object({
  name: nameSchema,
  runtime: nameSchema.default('screen'),
  command: commandSchema,
  static: z.boolean().default(false),
  ramMB: z.int().min(1).max(16_777_216).default(2048),
  /** 100 = one core. */
  cpu: z.int().min(0).max(1_000_000).default(100),
  /** Bounds beside RAM and CPU. Absent: those of Drover. */
  limits: limitsSchema.optional(),
  instanceGroups: z.array(nameSchema).max(256).default([]),
  /** The ids of the nodes that may run its instances; empty: any node. */
  nodes: z.array(nameSchema).max(4096).default([]),
  hostAddress: z.string().min(1).max(253).optional(),
  availablePorts: portRangeSchema.optional(),
  /** The ports beside the main one, by name. Absent: none. */
  ports: wantedPortsSchema.optional(),
  /** Whether its instances on one node share the main port. Absent: each has one of its own. */
  sharePort: sharePortSchema.optional(),
  minimumServiceCount: z.int().min(0).max(MAX_SERVICE_COUNT).default(DEFAULT_MINIMUM),
  /** The most instances; further ones are stopped. Absent: no limit. */
  maximumServiceCount: z.int().min(0).max(MAX_SERVICE_COUNT).optional(),
  /**
   * Whether a lowered minimum keeps the surplus instances, or removes them once they have no players. Absent: `keep`.
   */
  surplus: z.enum(['keep', 'remove']).optional(),
  /** Whether the instances with this content run on or stop when the configuration is deleted. Absent: `keep`. */
  onDelete: z.enum(['keep', 'stop']).optional(),
  environmentVariables: stringMapSchema.default({}),
  templateInstallationConfig: templateInstallationSchema.prefault({}),
  fileModifications: z.array(workspacePathSchema).max(1024).default([]),
  /** Values that the node sets in settings files before each start. Absent: none. */
  fileEdits: fileEditsSchema.optional(),
  /** Files with the values of secrets, which the node writes before each start. Absent: none. */
  secretFiles: secretFilesSchema.optional(),
  /** Whether the values of its secrets are covered in logs. Absent: yes. */
  maskSecrets: z.boolean().optional(),
  /** Commands that run before a start, in this order, once the directory is made. Absent: none. */
  prepare: prepareSchema.optional(),
  /** Commands that run when everything of a run is gone. Absent: none. */
  after: afterSchema.optional(),
  properties: stringMapSchema.default({}),
  /** The order in which fitting nodes are chosen. Absent: `spread`. */
  placement: placementOrderSchema.optional(),
  /** The user that the instances run as. Absent: the `runAs` of the node. */
  runAs: runAsSchema.optional(),
  stopCommand: stopCommandSchema.optional(),
  /** The defaults of this field and the next three stand in STOPPING_DEFAULTS. */
  stopSignal: stopSignalSchema.optional(),
  stopTimeoutSeconds: stopTimeoutSecondsSchema.optional(),
  stopTo: stopToSchema.optional(),
  restartPolicy: restartPolicySchema.optional(),
  /** When an instance counts as ready. Absent: as soon as its process is up. */
  readiness: readinessSchema.optional(),
  /** When an instance that was ready is still alive. Absent: as long as its process is up. */
  liveness: livenessSchema.optional(),
  /** The lists of proxies that its instances stand in. Absent: none. */
  expose: exposeSchema.optional(),
  /** How a changed content reaches running instances. Absent: not at all. */
  update: updateSchema.optional(),
  /** The others that must stand before an instance starts for the first time. Absent: nothing. */
  waitsFor: waitsForSchema.optional(),
  /** How runs are made of it, when somebody or a schedule asks. Absent: it is no job. */
  job: jobSchema.optional(),
  /** The deeds at set times. */
  schedules: schedulesSchema.optional(),
  /** The times in which more instances are kept than `minimumServiceCount`. */
  windows: windowsSchema.optional(),
});

/** The fields that the node must know, because a node of an older version would pass them over in silence. */
export const NODE_FIELDS = [
  'fileEdits',
  'secretFiles',
  'prepare',
  'after',
  'limits',
  'liveness',
  'ports',
  'sharePort',
  'job',
] as const;

/** The fields of a content that its node does not know. `known`: the fields that the node named. */
export function unknownFields(configuration: Configuration, known: readonly string[] = []): string[] {
  // A node that writes files of secrets knows the variables of secrets, too.
  const uses = (field: (typeof NODE_FIELDS)[number]): boolean =>
    configuration[field] !== undefined || (field === 'secretFiles' && secretsOf(configuration).size > 0);
  return NODE_FIELDS.filter((field) => !known.includes(field) && uses(field));
}

/** The fields that a file may leave to callers. */
const managedFieldSchema = z.enum(fieldsSchema.omit({ name: true }).keyof().options, {
  error: 'must be a field of a configuration other than name and managed',
});

const allFieldsSchema = fieldsSchema.extend({
  managed: z
    .array(managedFieldSchema)
    .max(64)
    .optional()
    .describe(
      'fields whose value callers set, where Drover does not write the file, which has their first value',
    ),
});

export const configurationSchema = allFieldsSchema.superRefine((configuration, context) => {
  const { runtime, stopTo, sharePort, properties } = configuration;
  if (runtime === 'docker' && stopTo === 'all') {
    const message =
      'must be main: the runtime docker can signal the main process of a container alone; remove the field';
    context.addIssue({ code: 'custom', path: ['stopTo'], message });
  }
  for (const field of ['command', 'prepare', 'after'] as const)
    for (const secret of secretsIn(JSON.stringify(configuration[field] ?? '')).slice(0, 1)) {
      const message = `must not hold %SECRET:${secret}%: other users of the machine see the arguments of a command. Write it into environmentVariables, fileEdits or secretFiles, where the program reads it`;
      context.addIssue({ code: 'custom', path: [field], message });
    }
  if (runtime === 'docker' && sharePort !== undefined && properties.dockerNetwork !== 'host') {
    const message =
      'needs the property dockerNetwork "host": an engine publishes a port for one container alone; add it, or remove the field';
    context.addIssue({ code: 'custom', path: ['sharePort'], message });
  }
  for (const [path, message] of portFaults(configuration))
    context.addIssue({ code: 'custom', path, message });
  for (const check of ['readiness', 'liveness'] as const) {
    const [path, asked] = portField(configuration[check] ?? {}) ?? [];
    // The sockets of a container are not told from those of its network.
    const mayShare = check === 'readiness' && path?.[0] === 'tcpPort' && runtime !== 'docker';
    const message = asked === undefined ? undefined : ownPortFault(asked, configuration, mayShare);
    if (path !== undefined && message !== undefined)
      context.addIssue({ code: 'custom', path: [check, ...path], message });
  }
  const { minimumServiceCount: minimum, maximumServiceCount: maximum } = configuration;
  if (maximum !== undefined && minimum > maximum) {
    const message = `must be at least minimumServiceCount (${minimum}; 1 where the field is missing): raise this or lower that`;
    context.addIssue({ code: 'custom', path: ['maximumServiceCount'], message });
  }
  for (const [place, window] of (configuration.windows ?? []).entries())
    if (maximum !== undefined && window.minimumServiceCount > maximum) {
      const message = `must not be above maximumServiceCount (${maximum}): lower this or raise that`;
      context.addIssue({ code: 'custom', path: ['windows', place, 'minimumServiceCount'], message });
    }
  const { job, restartPolicy = 'always', static: isStatic, update, windows } = configuration;
  const others = maximum ?? update ?? windows;
  if (job !== undefined && (minimum > 0 || restartPolicy === 'always' || isStatic || others !== undefined)) {
    const message =
      'needs "minimumServiceCount": 0 and a restartPolicy of never or on-failure; it does not go with static, maximumServiceCount, update and windows';
    context.addIssue({ code: 'custom', path: ['job'], message });
  }
  if (job?.retries !== undefined && restartPolicy !== 'on-failure') {
    const message = 'has no effect unless restartPolicy is "on-failure"';
    context.addIssue({ code: 'custom', path: ['job', 'retries'], message });
  }
  for (const [place, { do: deed }] of (configuration.schedules ?? []).entries()) {
    if ((deed === 'run') !== (job !== undefined)) {
      const message = 'must be "run" beside a field "job", and something else without it';
      context.addIssue({ code: 'custom', path: ['schedules', place, 'do'], message });
    }
    if (deed === 'stop' && !configuration.static && minimum > 0) {
      const message =
        'must not be "stop": what is not static is made anew at once. Set minimumServiceCount to 0, and "windows" with the times in which it must run';
      context.addIssue({ code: 'custom', path: ['schedules', place, 'do'], message });
    }
  }
});

/** A valid configuration with every default filled in. Treat as immutable. */
export type Configuration = z.output<typeof configurationSchema>;
/** The input of a client or a file: fields with defaults are optional. */
export type ConfigurationInput = z.input<typeof configurationSchema>;

/** The name of a revision: the first 32 hex digits (128 bits) of the SHA-256 of the content in canonical key order. */
export function hashConfiguration(configuration: Configuration): string {
  return createHash('sha256').update(canonicalJson(configuration)).digest('hex').slice(0, 32);
}

/** JSON with keys sorted at every level, so that equal contents give equal bytes. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    entry !== null && typeof entry === 'object' && !Array.isArray(entry)
      ? Object.fromEntries(Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1)))
      : entry,
  );
}

/** The store value of `configurations/<name>`: the last good content of a file. */
export const configurationRecordSchema = z.object({
  configuration: configurationSchema,
  /** The file that the content came from, under `configurations/` of its node, such as `hello.json`. */
  sourceFile: z.string(),
  /** The node of that file. */
  sourceNode: z.string(),
  /** The hash that `hashConfiguration` makes of the content: the key of its revision. */
  hash: z.string(),
  /** The last commit of git that changed the file. Absent: not known, or the file differs from the commit. */
  commit: z.string().optional(),
});
export type ConfigurationRecord = Readonly<z.output<typeof configurationRecordSchema>>;
/** A content and the hash that names it. */
export type ConfigurationContent = Pick<ConfigurationRecord, 'configuration' | 'hash'>;

/** A configuration file whose present content is not in force, for `config list`, the log and the metric. */
export const configurationFileErrorSchema = z.object({
  file: z
    .string()
    .describe(
      'name of the file; of the directory, where no file can be read; `templates/<group>/<name>`: a template in conflict',
    ),
  node: z.string().optional().describe('the node whose file it is, where that is not the one that leads'),
  name: z.string().optional().describe('name that the file gives its configuration, where that can be read'),
  line: z
    .int()
    .nullable()
    .describe('from 1; null: the fault has no place in the text (unreadable file, name taken)'),
  column: z.int().nullable(),
  field: z.string().nullable().describe('path such as `availablePorts.min`; null: a syntax error'),
  message: z.string().describe('what is wrong and what would be right'),
});
export type ConfigurationFileError = Readonly<z.output<typeof configurationFileErrorSchema>>;

/** The text of a broken file as it stands, to be mended. */
export const brokenTextSchema = z.object({
  file: z.string(),
  revision: z
    .string()
    .describe('of the text: in quotes, the value for `If-Match` of the PUT that mends the file'),
  text: z.string(),
  error: configurationFileErrorSchema,
});
export type BrokenText = Readonly<z.output<typeof brokenTextSchema>>;

/** A warning about a part of a valid configuration that has no effect. */
export const configurationWarningSchema = z.object({
  line: z.int().nullable().describe('from 1; null: it did not come from a file'),
  column: z.int().nullable(),
  field: z.string().describe('path such as `availablePorts.mim`'),
  message: z.string().describe('what has no effect, and what was probably meant'),
});
export type ConfigurationWarning = Readonly<z.output<typeof configurationWarningSchema>>;

/** The same warning with its file, for `config list`, `why`, the API and the log. */
export const configurationFileWarningSchema = configurationWarningSchema.extend({
  file: z.string().describe('name of the file'),
  name: z.string().describe('of its configuration'),
});
export type ConfigurationFileWarning = Readonly<z.output<typeof configurationFileWarningSchema>>;
