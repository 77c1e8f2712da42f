/** Instances as operators see them: the list, and everything that is known of one instance. The routes use it. */
import { z } from 'zod';
import {
  type InstanceInfo,
  type InstanceRecord,
  instanceInfoSchema,
  toInstanceInfo,
} from '../model/instance.js';
import type { MirrorReader } from '../store/mirror.js';
import type { Reads } from './reads.js';

const usageSchema = z.object({
  cpuSeconds: z.number().describe('processor time since the current start'),
  cpuPercent: z.number().nullable().describe('100 = one core; null: it was measured only once so far'),
  memoryBytes: z.number(),
  processes: z.int(),
});

export const instanceDetailsSchema = instanceInfoSchema.extend({
  desired: z.string().describe('run or stop'),
  static: z.boolean(),
  templates: z
    .array(z.object({ group: z.string(), name: z.string() }))
    .describe('the templates that were chosen for the instance; empty until it is placed'),
  isRevisionCurrent: z
    .boolean()
    .nullable()
    .describe(
      'true: the instance has the present content of its configuration; null: the configuration was removed',
    ),
  usage: usageSchema
    .nullable()
    .describe('the present usage; null: the node is away, or has not measured it yet'),
});
export type InstanceDetails = z.output<typeof instanceDetailsSchema>;

/** The instances that clients may see, in no order. Instances that are being removed are left out. */
export function* visibleInstances({
  instances,
}: {
  readonly instances: Pick<MirrorReader<InstanceRecord>, 'entries'>;
}): Generator<InstanceRecord> {
  for (const [, { value }] of instances.entries()) if (value.desired.goal !== 'remove') yield value;
}

/** The instance as the API shows it. While it is ONLINE, the beats of its node count as its own. */
function infoOf(record: InstanceRecord, { beats }: Pick<Reads, 'beats'>): InstanceInfo {
  const { placement, status } = record;
  const isBeating = placement !== null && status.state === 'ONLINE';
  const beatAt = isBeating ? (beats.lastBeatAt(placement.nodeId) ?? 0) : 0;
  return toInstanceInfo(record, Math.max(status.lastHeartbeat, beatAt));
}

export function detailsOf(record: InstanceRecord, needs: Reads): InstanceDetails {
  const inForce = needs.configurations.get(record.configurationName)?.value;
  return {
    ...infoOf(record, needs),
    desired: record.desired.goal,
    static: record.static,
    templates: record.placement?.templates.map(({ group, name }) => ({ group, name })) ?? [],
    isRevisionCurrent: inForce === undefined ? null : inForce.hash === record.revision,
    usage: needs.usageOf(record.id) ?? null,
  };
}
