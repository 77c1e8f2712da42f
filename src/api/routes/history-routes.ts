/** The past of an instance: `/instances/{id}/runs` with the end of each run, and the search of its log. */

import { z } from 'zod';
import { instanceRunsSchema } from '../../explain/explanation.js';
import { defineRoute, jsonAnswer, type Route, wholeNumber } from '../http/route.js';
import { logSearchRoute } from './instances/log-routes.js';
import { ofInstance } from './subjects.js';

const MOST_LINES = 50;
const runsQuery = z.object({
  lines: wholeNumber(0, MOST_LINES).default(10).describe('how many of the last lines of each run, 0 to 50'),
});

export const historyRoutes: readonly Route[] = [
  logSearchRoute,
  defineRoute('GET', '/instances/:id/runs', {
    scope: 'READ',
    ...ofInstance,
    summary: 'The last runs of an instance, with their ends, their usage and their last lines.',
    errors: ['DRV_NODE_DISCONNECTED'],
    query: runsQuery,
    answers: jsonAnswer('the runs', instanceRunsSchema),
    handle: ({ params, query }, { explainer }) => explainer.runs(params.id, query.lines),
  }),
];
