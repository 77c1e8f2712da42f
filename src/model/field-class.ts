/**
 * The effect of a changed field on an instance that runs already: none, a restart in the same place, or another
 * instance. The plan of a change, updates in place and rollouts all use this table. Pure.
 */
import { z } from 'zod';
import { type Configuration, configurationSchema } from './configuration.js';
import { differencesOf, type FieldDifference } from './field-differences.js';

/**
 * `live`: the change takes effect at once, without a restart. `next-start`: a restart in the same place brings it.
 * `replacement`: it needs another place, or another kind of process.
 */
const fieldClassSchema = z
  .enum(['live', 'next-start', 'replacement'])
  .describe('live: no restart; next-start: taken by a restart in place; replacement: by another instance');
type FieldClass = z.output<typeof fieldClassSchema>;

export const changedFieldSchema = z.object({
  path: z.string().describe('such as `availablePorts.min`'),
  class: fieldClassSchema,
  from: z.string().nullable().describe('as JSON; null: not there'),
  to: z.string().nullable().describe('as JSON; null: not there'),
});
export type ChangedField = z.output<typeof changedFieldSchema>;

/** The place of an instance. */
export interface FieldPlace {
  readonly nodeId: string;
  readonly port: number | null;
}

interface Change {
  readonly from: Configuration;
  readonly to: Configuration;
  /** The place of the instance. Undefined: judge the change for any instance of `from`, wherever it may be. */
  readonly place: FieldPlace | undefined;
}

type Judge = FieldClass | ((change: Change) => FieldClass);

/** Every field has its row: the compiler and `field-class.test.ts` refuse a field without one. */
const CLASSES: { readonly [Field in keyof Required<Configuration>]: Judge } = {
  // Another name is another configuration.
  name: 'replacement',
  // The runtime holds the process, and a node may not offer the new one.
  runtime: 'replacement',
  command: 'next-start',
  // The field decides whether the directory outlives the process, and whether the instance may leave its node.
  static: 'replacement',
  // The amount is reserved on the node and limits the process, so it must fit anew.
  ramMB: 'replacement',
  cpu: 'replacement',
  // The limits are set at a start.
  limits: 'next-start',
  // Drover does not use the field: clients read it from the configuration.
  instanceGroups: 'live',
  nodes: nodesClass,
  // Ports are free or taken by address, so another address is another place.
  hostAddress: 'replacement',
  availablePorts: portsClass,
  // The numbers that still fit stay.
  ports: 'next-start',
  // A port of its own and a shared one are two places: the one cannot become the other while both kinds run.
  sharePort: 'replacement',
  minimumServiceCount: 'live',
  maximumServiceCount: 'live',
  // The controllers read the field when the minimum is lowered.
  surplus: 'live',
  // The controllers read the field from the content of an instance, once the configuration is deleted.
  onDelete: 'live',
  environmentVariables: 'next-start',
  // The templates are installed before a start.
  templateInstallationConfig: 'next-start',
  fileModifications: 'next-start',
  // The files are edited before a start.
  fileEdits: 'next-start',
  secretFiles: 'next-start',
  maskSecrets: 'next-start',
  prepare: 'next-start',
  // The node reads the field when a run has ended.
  after: 'live',
  properties: 'next-start',
  // The field orders the nodes for later instances; no instance moves because of it.
  placement: 'live',
  // Files that the former user wrote in the directory do not belong to the new user.
  runAs: 'replacement',
  // The node reads the field when a stop begins.
  stopCommand: 'live',
  stopSignal: 'live',
  stopTimeoutSeconds: 'live',
  stopTo: 'live',
  expose: 'live',
  // The node reads the field when the process has ended.
  restartPolicy: 'live',
  // The node checks both from outside the process.
  readiness: 'live',
  liveness: 'live',
  // The rollout that brings the change reads the field.
  update: 'live',
  // A run takes the field when it is asked for.
  job: 'live',
  // Placement reads the field before the first start.
  waitsFor: 'live',
  // The controllers read both fields.
  schedules: 'live',
  windows: 'live',
  // The merge of a file with overrides reads the field.
  managed: 'live',
};

/**
 * All fields that differ, by path, each with its class. With `place`: the class for the instance there. Otherwise: the
 * strongest class that any instance of `from` may need.
 */
export function changedFields(from: Configuration, to: Configuration, place?: FieldPlace): ChangedField[] {
  return differencesOf(from, to).map(({ field, before, after }: FieldDifference) => ({
    path: field,
    class: classBy(judgeOf(field), { from, to, place }),
    from: before,
    to: after,
  }));
}

/** The fields of a new content: its command, its minimum, and all that is not the default. No instance restarts. */
export function newFields(to: Configuration): ChangedField[] {
  const given = { name: to.name, command: 'none' };
  const { command: _command, minimumServiceCount: _minimum, ...defaults } = configurationSchema.parse(given);
  return differencesOf(defaults, to).map(({ field, after }) => ({
    path: field,
    class: 'live',
    from: null,
    to: after,
  }));
}

/** The strongest class of the fields, which decides. Null: nothing has changed. */
export function strongestClass(fields: readonly Pick<ChangedField, 'class'>[]): FieldClass | null {
  return fieldClassSchema.options.findLast((one) => fields.some((field) => field.class === one)) ?? null;
}

/**
 * True for an instance that needs no other process for `to` than for `from`, because only fields differ that apply
 * without a restart. The contents are compared once for the instances at all places. `changedFields` says what no
 * place means.
 */
export function sameProcess(from: Configuration, to: Configuration): (place?: FieldPlace) => boolean {
  const judges = [...new Set(differencesOf(from, to).map(({ field }) => judgeOf(field)))];
  return (place) => judges.every((judge) => classBy(judge, { from, to, place }) === 'live');
}

function judgeOf(path: string): Judge {
  const [field = path] = path.split('.', 1);
  if (!isField(field)) throw new TypeError(`${path} is no field of a configuration`);
  return CLASSES[field];
}

function classBy(judge: Judge, change: Change): FieldClass {
  return typeof judge === 'string' ? judge : judge(change);
}

function isField(field: string): field is keyof typeof CLASSES {
  return Object.hasOwn(CLASSES, field);
}

/** An empty list allows every node. */
function nodesClass({ from, to, place }: Change): FieldClass {
  const isAllowed = (nodeId: string): boolean => to.nodes.length === 0 || to.nodes.includes(nodeId);
  if (place !== undefined) return isAllowed(place.nodeId) ? 'live' : 'replacement';
  if (to.nodes.length === 0) return 'live';
  return from.nodes.length > 0 && from.nodes.every(isAllowed) ? 'live' : 'replacement';
}

/**
 * An instance keeps its port if the new range contains it. When the new content has no range, a restart gives the port
 * back.
 */
function portsClass({ from, to, place }: Change): FieldClass {
  const range = to.availablePorts;
  if (range === undefined) return 'next-start';
  const has = (port: number): boolean => range.min <= port && port <= range.max;
  if (place !== undefined) return place.port !== null && has(place.port) ? 'live' : 'replacement';
  const old = from.availablePorts;
  return old !== undefined && has(old.min) && has(old.max) ? 'live' : 'replacement';
}
