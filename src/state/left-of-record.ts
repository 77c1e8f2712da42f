/**
 * Reads what is left of a stored record that does not decode. Placement, minimum-service and the feed use it, so that
 * the instance behind the record keeps its place and its process.
 */
import { z } from 'zod';
import type { OwnPorts } from '../model/fields/ports.js';
import { desiredSchema, type Goal, instanceRecordSchema, placementSchema } from '../model/instance.js';
import { nameSchema } from '../model/names.js';
import { type Drain, drainSchema } from '../model/node-drain.js';
import type { SetAside } from '../store/mirror.js';
import type { StateRecords } from './master-state.js';

/**
 * The fields of an instance's record, as far as they can be read. Null: the field cannot be read. A null `placement`
 * may also mean that the instance is not placed.
 */
export interface LeftOfInstance {
  readonly configurationName: string | null;
  /** The goal; `run` when it cannot be read. */
  readonly goal: Goal;
  readonly placement: (OwnPorts & { readonly nodeId: string; readonly hostAddress: string }) | null;
  /** 0 when it cannot be read. */
  readonly ramMB: number;
  /** 0 when it cannot be read. */
  readonly cpu: number;
}

const { ramMB, cpu } = instanceRecordSchema.shape;
const { port, ports, sharedBy, hostAddress } = placementSchema.shape;

const placedSchema = z.object({
  nodeId: nameSchema,
  port: port.catch(null),
  ports: ports.catch(undefined),
  sharedBy: sharedBy.catch(undefined),
  hostAddress: hostAddress.catch(''),
});

const instanceSchema = z.object({
  configurationName: nameSchema.nullable().catch(null),
  desired: desiredSchema.pick({ goal: true }).catch({ goal: 'run' }),
  placement: placedSchema.nullable().catch(null),
  ramMB: ramMB.catch(0),
  cpu: cpu.catch(0),
});

export function leftOfInstance(value: unknown): LeftOfInstance {
  const { desired, ...left } = instanceSchema.parse(objectOf(value));
  return { ...left, goal: desired.goal };
}

/** The instances of a configuration whose records are set aside. */
export function* setAsideOf(
  setAside: ReadonlyMap<string, SetAside>,
  configurationName: string,
): Generator<[id: string, left: LeftOfInstance]> {
  for (const [id, { value }] of setAside) {
    const left = leftOfInstance(value);
    if (left.configurationName === configurationName) yield [id, left];
  }
}

/** The operator's wishes for a node. */
/** How many instances of a configuration are wanted, with those whose records cannot be read. */
export function wantedOf(
  { instances, instancesByConfiguration }: Pick<StateRecords, 'instances' | 'instancesByConfiguration'>,
  name: string,
): number {
  const goals = [...instancesByConfiguration.get(name)].map((id) => instances.get(id)?.value.desired.goal);
  for (const [, { goal }] of setAsideOf(instances.setAside, name)) goals.push(goal);
  return goals.filter((goal) => goal === 'run').length;
}

interface LeftOfNode {
  readonly cordoned: boolean;
  readonly drain?: Drain | undefined;
}

const nodeSchema = z.object({
  cordoned: z.boolean().catch(false),
  drain: drainSchema.optional().catch(undefined),
});

export function leftOfNode(value: unknown): LeftOfNode {
  return nodeSchema.parse(objectOf(value));
}

const sourceSchema = z.object({ sourceFile: z.string(), sourceNode: z.string() });

/** The file that a configuration came from, and the node with that file. Undefined: they cannot be read. */
export function leftOfConfiguration(value: unknown): z.output<typeof sourceSchema> | undefined {
  return sourceSchema.safeParse(value).data;
}

function objectOf(value: unknown): object {
  return value !== null && typeof value === 'object' ? value : {};
}
