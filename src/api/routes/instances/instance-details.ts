/** `/instances/{id}/details`: everything that is known of one instance. */
import { z } from 'zod';
import { namedPortsSchema } from '../../../model/fields/ports.js';
import {
  heartbeatOf,
  type InstanceRecord,
  instanceInfoSchema,
  type PlacedTemplate,
  toInstanceInfo,
} from '../../../model/instance.js';
import type { RouteNeeds } from '../../dependencies.js';
import { defineRoute, jsonAnswer } from '../../http/route.js';
import { ofInstance } from '../subjects.js';

/** As many digits of a digest tell versions of a template apart. */
const SHORT_DIGEST = 12;

const usageSchema = z.object({
  cpuSeconds: z.number().describe('processor time since the current start'),
  cpuPercent: z.number().nullable().describe('100 = one core; null: it was measured only once so far'),
  memoryBytes: z.number(),
  processes: z.int(),
});

export const instanceDetailsSchema = instanceInfoSchema.extend({
  desired: z.string().describe('run or stop'),
  static: z.boolean(),
  namedPorts: namedPortsSchema.describe('what `ports` says, one by one'),
  templates: z
    .array(
      z.object({
        group: z.string(),
        name: z.string(),
        digest: z
          .string()
          .nullable()
          .describe(
            'the start of the digest of the version that the instance has; null: its node has not said',
          ),
        installedAt: z.number().nullable().describe('when that version was installed, Unix milliseconds'),
        isCurrent: z
          .boolean()
          .nullable()
          .describe(
            'false: the template has changed since; null: one of both versions is not known, or the template was removed',
          ),
      }),
    )
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

export const instanceDetailsRoute = defineRoute('GET', '/instances/:id/details', {
  scope: 'READ',
  ...ofInstance,
  summary: 'One instance with its desired state, its templates and its present usage.',
  answers: jsonAnswer('everything that is known of the instance', instanceDetailsSchema),
  handle: ({ params }, needs) => detailsOf(needs.view.visible(params.id), needs),
});

export async function detailsOf(
  record: InstanceRecord,
  needs: Pick<RouteNeeds, 'configurations' | 'beats' | 'usageOf' | 'templateDigest'>,
): Promise<InstanceDetails> {
  const inForce = needs.configurations.get(record.configurationName)?.value;
  const placed = record.placement?.templates ?? [];
  return {
    ...toInstanceInfo(record, heartbeatOf(record, needs.beats.lastBeatAt(record.placement?.nodeId ?? ''))),
    desired: record.desired.goal,
    static: record.static,
    namedPorts: record.placement?.ports ?? [],
    templates: await Promise.all(placed.map((template) => versionOf(template, record, needs))),
    isRevisionCurrent: inForce === undefined ? null : inForce.hash === record.revision,
    usage: needs.usageOf(record.id) ?? null,
  };
}

async function versionOf(
  { group, name, storage }: PlacedTemplate,
  { status: { installed } }: InstanceRecord,
  needs: Pick<RouteNeeds, 'templateDigest'>,
): Promise<InstanceDetails['templates'][number]> {
  const version = installed?.templates.find((one) => one.group === group && one.name === name);
  if (installed === undefined || version === undefined)
    return { group, name, digest: null, installedAt: null, isCurrent: null };
  const current = await needs.templateDigest(group, name, storage);
  return {
    group,
    name,
    digest: version.digest.slice(0, SHORT_DIGEST),
    installedAt: installed.at,
    isCurrent: current === null ? null : current === version.digest,
  };
}
