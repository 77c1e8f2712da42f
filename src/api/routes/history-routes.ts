/**
 * What was: `/instances/{id}/usage`, what an instance used, `/instances/{id}/runs`, how its runs ended, and the search of
 * its log.
 */

import { z } from 'zod';
import { instanceRunsSchema } from '../../explain/explanation.js';
import type { Reads } from '../../operations/reads.js';
import { SAMPLE_EVERY_MS, type UsageHistory } from '../../operations/usage-history.js';
import { defineRoute, type Route } from '../http/route.js';
import { visible } from './instances/instance-routes.js';
import { instanceParams } from './instances/instance-schemas.js';
import type { InstanceView } from './instances/instance-view.js';
import { logSearchRoute } from './log-search-route.js';

export interface HistoryRoutesOptions extends Reads {
  readonly usage: Pick<UsageHistory, 'of'>;
  readonly view: InstanceView;
}

const series = z.array(z.number().nullable());

const usageSeriesSchema = z.object({
  instanceId: z.string(),
  everyMs: z.number().describe('the time between two samples'),
  at: z.array(z.number()).describe('when each sample was taken, the oldest first, Unix milliseconds'),
  cpuPercent: series.describe('one for each sample, as the next ones; 100 = one core; null: not known then'),
  memoryBytes: series,
  players: series,
});

export function historyRoutes(options: HistoryRoutesOptions): readonly Route[] {
  return [logSearchRoute(options), usageRoute(options), runsRoute(options)];
}

function usageRoute({ usage, view }: HistoryRoutesOptions): Route {
  return defineRoute({
    method: 'GET',
    path: '/instances/:id/usage',
    scope: 'READ',
    reach: 'instance',
    summary: 'CPU, memory and players over the last half hour, as far as this master has been up.',
    errors: ['DRV_INSTANCE_UNKNOWN'],
    params: instanceParams,
    answers: { 200: { description: 'samples', schema: usageSeriesSchema } },
    handle: ({ params }) => {
      const { id } = visible(view, params.id);
      return { instanceId: id, everyMs: SAMPLE_EVERY_MS, ...usage.of(id) };
    },
  });
}

const MOST_LINES = 50;
const runsQuery = z.object({
  lines: z.coerce
    .number()
    .int()
    .min(0)
    .max(MOST_LINES)
    .default(10)
    .describe('last lines of each run, 0 to 50'),
});

function runsRoute({ explainer }: HistoryRoutesOptions): Route {
  return defineRoute({
    method: 'GET',
    path: '/instances/:id/runs',
    scope: 'READ',
    reach: 'instance',
    summary: 'How the last runs of an instance ended, what they needed, and what they wrote last.',
    errors: ['DRV_INSTANCE_UNKNOWN', 'DRV_NODE_DISCONNECTED'],
    params: instanceParams,
    query: runsQuery,
    answers: { 200: { description: 'the runs', schema: instanceRunsSchema } },
    handle: ({ params, query }) => explainer.runs(params.id, query.lines),
  });
}
