/** `/configurations/{name}/history`: the last contents of a configuration. */
import { z } from 'zod';
import {
  type ConfigurationHistoryNeeds,
  contentDiffOf,
  contentDiffSchema,
  historyOf,
  pastContentSchema,
} from '../../operations/configuration-history.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const nameParams = z.object({ name: z.string().describe('name of the configuration') });
const number = z.coerce.number().int().min(1);

export function configurationHistoryRoutes(dependencies: ConfigurationHistoryNeeds): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/configurations/:name/history',
      scope: 'READ',
      reach: 'configuration',
      summary: 'The last 10 contents of a configuration, the newest first.',
      errors: ['DRV_CONFIGURATION_UNKNOWN'],
      params: nameParams,
      query: nothing,
      body: nothing,
      answers: {
        200: { description: 'since when, from whom, and how each ended', schema: z.array(pastContentSchema) },
      },
      handle: ({ params }) => historyOf(dependencies, params.name),
    }),
    defineRoute({
      method: 'GET',
      path: '/configurations/:name/history/diff',
      scope: 'READ',
      reach: 'configuration',
      summary: 'What differs between two contents of the history.',
      errors: ['DRV_CONFIGURATION_UNKNOWN', 'DRV_REVISION_UNKNOWN'],
      params: nameParams,
      query: z.object({
        from: number.describe('number of a content'),
        to: number.optional().describe('default: the newest'),
      }),
      body: nothing,
      answers: { 200: { description: 'the differences', schema: contentDiffSchema } },
      handle: ({ params, query }) => contentDiffOf(dependencies, params.name, query),
    }),
  ];
}
