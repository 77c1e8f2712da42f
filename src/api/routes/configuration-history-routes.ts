/**
 * `/configurations/{name}/history` and `.../rollback`: the last contents of a configuration, and the way back to them.
 */

import { z } from 'zod';
import {
  configurationHistory,
  contentDiffOf,
  contentDiffSchema,
  pastContentSchema,
} from '../../operations/rollouts/configuration-history.js';
import {
  rollBack,
  rollbackRequestSchema,
  rollbackSchema,
  writeBack,
} from '../../operations/rollouts/configuration-rollback.js';
import { callerOf } from '../gate/auth.js';
import { showsValues, valuesQuery } from '../gate/shown-values.js';
import { defineRoute, type Route } from '../http/route.js';

const nameParams = z.object({ name: z.string().describe('name of the configuration') });
const number = z.coerce.number().int().min(1);

/** The parts that both routes for a rollback share. */
const ROLLBACK = {
  params: nameParams,
  body: rollbackRequestSchema,
  answers: { 200: { description: 'the content that comes back', schema: rollbackSchema } },
};

export const configurationHistoryRoutes: readonly Route[] = [
  defineRoute({
    method: 'GET',
    path: '/configurations/:name/history',
    scope: 'READ',
    reach: 'configuration',
    summary: 'The last 10 contents of a configuration, the newest first.',
    errors: ['DRV_CONFIGURATION_UNKNOWN'],
    params: nameParams,
    answers: {
      200: {
        description: 'the contents, with their times, authors and outcomes',
        schema: z.array(pastContentSchema),
      },
    },
    handle: ({ params }, needs) => configurationHistory(needs, params.name),
  }),
  defineRoute({
    method: 'GET',
    path: '/configurations/:name/history/diff',
    scope: 'READ',
    reach: 'configuration',
    summary: 'The differences between two contents of the history.',
    errors: ['DRV_CONFIGURATION_UNKNOWN', 'DRV_REVISION_UNKNOWN'],
    params: nameParams,
    query: valuesQuery.extend({
      from: number.describe('number of a content'),
      to: number.optional().describe('default: the newest'),
    }),
    answers: { 200: { description: 'the differences', schema: contentDiffSchema } },
    handle: ({ params, query, request }, needs) =>
      contentDiffOf(needs, params.name, { ...query, showValues: showsValues(request, query) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/configurations/:name/rollback',
    scope: 'OPERATE',
    reach: 'configuration',
    summary: 'Brings an older content back and holds the content of the file back. The file is left alone.',
    errors: [
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_REVISION_UNKNOWN',
      'DRV_ROLLOUT_STATE',
      'DRV_STORE_WRITE_FAILED',
    ],
    ...ROLLBACK,
    handle: ({ params, body, request }, needs) =>
      rollBack(needs, params.name, { ...body, by: callerOf(request) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/configurations/:name/rollback/file',
    scope: 'ALL',
    reach: 'configuration',
    summary: 'Writes an older content into the file, as a PUT of it would.',
    errors: [
      'DRV_CONFIGURATION_UNKNOWN',
      'DRV_REVISION_UNKNOWN',
      'DRV_CONFIGURATION_CHANGED',
      'DRV_CONFIGURATION_NOT_WRITABLE',
      'DRV_DISK_WRITE_FAILED',
      'DRV_STORE_WRITE_FAILED',
    ],
    ...ROLLBACK,
    handle: ({ params, body, request }, needs) =>
      writeBack(needs, params.name, { ...body, by: callerOf(request) }),
  }),
];
