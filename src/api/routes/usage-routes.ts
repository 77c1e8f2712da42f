/** `GET /usage` and `GET /instances/{id}/usage`: CPU, memory, players and restarts over the last day. */
import { z } from 'zod';
import { shownInstanceId } from '../../model/names.js';
import { parseDuration } from '../../model/plain/duration.js';
import {
  DAY_MS,
  MINUTE_MS,
  usageFiguresSchema,
  usageGroupingSchema,
  usageSeriesSchema,
} from '../../model/run/usage-series.js';
import { unknownConfiguration, unknownInstance, unknownNode } from '../../model/unknown.js';
import { usageOver } from '../../operations/usage-over.js';
import { accessOf } from '../gate/auth.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { ofInstance } from './subjects.js';

const usageQuery = z.object({
  instance: z.string().optional().describe('only this instance'),
  configuration: z.string().optional().describe('only the instances of this configuration'),
  node: z.string().optional().describe('only what runs on this node'),
  range: z
    .string()
    .default('30m')
    .transform((text) => parseDuration(text) ?? 0)
    .refine((ms) => ms >= MINUTE_MS && ms <= DAY_MS, 'must be a time from 1m to 24h, such as 30m, 6h or 1d')
    .describe('how far back, from 1m to 24h'),
  by: usageGroupingSchema
    .default('all')
    .describe('one series for all, or one for each configuration or instance, then in at most 24 steps'),
});

const shownTimes = {
  everyMs: z.number().describe('the length of a step'),
  at: z.array(z.number()).describe('where each step begins, Unix milliseconds, the oldest first'),
};
const usageSchema = z.object({
  ...shownTimes,
  series: z.array(usageSeriesSchema).describe('their values, one for each step'),
  marks: z
    .array(z.object({ at: z.number(), text: z.string() }))
    .describe('when contents changed and rollouts began or ended'),
  missing: z
    .array(z.object({ nodeId: z.string(), why: z.string() }))
    .describe('the nodes whose part is missing'),
});
export type ShownUsage = z.output<typeof usageSchema>;

export const usageRoutes: readonly Route[] = [
  defineRoute('GET', '/usage', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'CPU, memory, players and restarts over up to a day: the sum, or by configuration or instance.',
    errors: ['DRV_INSTANCE_UNKNOWN', 'DRV_CONFIGURATION_UNKNOWN', 'DRV_NODE_UNKNOWN'],
    query: usageQuery,
    answers: jsonAnswer('the usage', usageSchema),
    handle: ({ query, request }, needs) => {
      const { instance, configuration, node, range: rangeMs, by } = query;
      const access = accessOf(request);
      if (node !== undefined && needs.nodes.get(node) === undefined) throw unknownNode(node);
      const record = instance === undefined ? undefined : needs.view.visible(instance);
      const sees = (name: string): boolean => access?.sees(name) ?? true;
      if (record !== undefined && !sees(record.configurationName)) throw unknownInstance(record.id);
      const name = configuration ?? record?.configurationName;
      // A key that is restricted to configurations gets the sum of theirs.
      const seen = access?.configurations == null ? undefined : [...needs.configurations.entries()];
      const isThere = (name: string): boolean =>
        needs.configurations.get(name) !== undefined || needs.instancesByConfiguration.get(name).size > 0;
      if (configuration !== undefined && !(sees(configuration) && isThere(configuration)))
        throw unknownConfiguration(configuration);
      return usageOver(needs, {
        rangeMs,
        by,
        // Ask only the node that has the instance.
        node: record?.placement?.nodeId ?? node,
        ...(record !== undefined && { instance: record.id }),
        configurations: name === undefined ? seen?.map(([one]) => one).filter(sees) : [name],
      });
    },
  }),
  defineRoute('GET', '/instances/:id/usage', {
    scope: 'READ',
    ...ofInstance,
    summary: 'CPU, memory and players of an instance over the last half hour, as its node kept them.',
    answers: jsonAnswer(
      'samples; none while the node is away',
      usageFiguresSchema.omit({ restarts: true }).extend({ instanceId: shownInstanceId, ...shownTimes }),
    ),
    handle: async ({ params }, needs) => {
      const { id: instance, placement } = needs.view.visible(params.id);
      const wanted = { rangeMs: 30 * MINUTE_MS, by: 'all', instance, node: placement?.nodeId } as const;
      const { everyMs, at, series } = await usageOver(needs, wanted);
      const { cpuPercent = [], memoryBytes = [], players = [] } = series[0] ?? {};
      return { instanceId: instance, everyMs, at, cpuPercent, memoryBytes, players };
    },
  }),
];
