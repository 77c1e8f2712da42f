/**
 * The past of an instance: `/instances/{id}/usage`, `/instances/{id}/runs` with the end of each run, and the search of
 * its log.
 */

import { z } from 'zod';
import { instanceRunsSchema } from '../../explain/explanation.js';
import { shownInstanceId } from '../../model/names.js';
import { SAMPLE_EVERY_MS } from '../../operations/usage-history.js';
import { defineRoute, type Route, wholeNumber } from '../http/route.js';
import { instanceParams } from './instances/instance-schemas.js';
import { logSearchRoute } from './instances/log-routes.js';

const series = z.array(z.number().nullable());

const usageSeriesSchema = z.object({
  instanceId: shownInstanceId,
  everyMs: z.number().describe('the time between two samples'),
  at: z.array(z.number()).describe('the time of each sample in Unix milliseconds, the oldest first'),
  cpuPercent: series.describe(
    'a value for each sample; 100 = one core; null: it was not known. The other figures are lists of the same form',
  ),
  memoryBytes: series,
  players: series,
});
export type InstanceUsageSeries = z.output<typeof usageSeriesSchema>;

const MOST_LINES = 50;
const runsQuery = z.object({
  lines: wholeNumber(0, MOST_LINES).default(10).describe('how many of the last lines of each run, 0 to 50'),
});

export const historyRoutes: readonly Route[] = [
  logSearchRoute,
  defineRoute({
    path: '/instances/:id/usage',
    scope: 'READ',
    reach: 'instance',
    summary: 'CPU, memory and players over the last half hour, as far as this master has been up.',
    errors: ['DRV_INSTANCE_UNKNOWN'],
    params: instanceParams,
    answers: { 200: { description: 'samples', schema: usageSeriesSchema } },
    handle: ({ params }, { usage, view }) => {
      const { id } = view.visible(params.id);
      return { instanceId: id, everyMs: SAMPLE_EVERY_MS, ...usage.of(id) };
    },
  }),
  defineRoute({
    path: '/instances/:id/runs',
    scope: 'READ',
    reach: 'instance',
    summary: 'The last runs of an instance, with their ends, their usage and their last lines.',
    errors: ['DRV_INSTANCE_UNKNOWN', 'DRV_NODE_DISCONNECTED'],
    params: instanceParams,
    query: runsQuery,
    answers: { 200: { description: 'the runs', schema: instanceRunsSchema } },
    handle: ({ params, query }, { explainer }) => explainer.runs(params.id, query.lines),
  }),
];
