/**
 * `/configurations/{name}/history` and `.../rollback`: the last contents of a configuration, and the way back to them.
 */

import { z } from 'zod';
import { revisionUnknown } from '../../model/errors.js';
import {
  configurationHistory,
  contentDiffOf,
  contentDiffSchema,
  contentNumbered,
  type PastContent,
  pastContentSchema,
  revisionContent,
} from '../../operations/rollouts/configuration-history.js';
import { shown, shownRolloutSchema } from '../../operations/rollouts/rollouts.js';
import type { RouteNeeds } from '../dependencies.js';
import { callerOf } from '../gate/auth.js';
import { shownTo, valuesQuery } from '../gate/shown-values.js';
import { defineRoute, jsonAnswer, type Route, wholeNumber } from '../http/route.js';
import { WRITE_ERRORS } from './configuration-routes.js';
import { ofConfiguration } from './subjects.js';

const number = wholeNumber(1);

const rollbackRequestSchema = z.strictObject({
  to: z
    .int()
    .min(1)
    .optional()
    .describe('number of a content in the history; default: the last good content before that of the file'),
  reason: z.string().trim().min(1).max(500).default('no reason given').describe('for the history'),
});

export const rollbackSchema = z.object({
  name: z.string(),
  to: z.int().describe('number of the content that comes back'),
  revision: z.string(),
  rollout: shownRolloutSchema
    .nullable()
    .describe(
      'the rollout that holds the content of the file back; null: the older content was written into the file',
    ),
});
export type RolledBack = z.output<typeof rollbackSchema>;

/** The parts that both routes for a rollback share. */
const ROLLBACK = {
  ...ofConfiguration,
  body: rollbackRequestSchema,
  answers: jsonAnswer('the content that comes back', rollbackSchema),
};

export const configurationHistoryRoutes: readonly Route[] = [
  defineRoute('GET', '/configurations/:name/history', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'The last 10 contents of a configuration, the newest first.',
    answers: jsonAnswer('the contents, with their times, authors and outcomes', z.array(pastContentSchema)),
    handle: ({ params }, needs) => configurationHistory(needs, params.name),
  }),
  defineRoute('GET', '/configurations/:name/history/diff', {
    scope: 'READ',
    ...ofConfiguration,
    summary: 'The differences between two contents of the history.',
    errors: ['DRV_REVISION_UNKNOWN'],
    query: valuesQuery.extend({
      from: number.describe('number of a content'),
      to: number.optional().describe('default: the newest'),
    }),
    answers: jsonAnswer('the differences', contentDiffSchema),
    handle: ({ params, query, request }, needs) =>
      contentDiffOf(needs, params.name, { ...query, shown: shownTo(request, query.values === 'true') }),
  }),
  defineRoute('POST', '/configurations/:name/rollback', {
    scope: 'OPERATE',
    summary: 'Brings an older content back and holds the content of the file back. The file is left alone.',
    errors: ['DRV_REVISION_UNKNOWN', 'DRV_ROLLOUT_STATE', 'DRV_RECORD_UNREADABLE', 'DRV_STORE_WRITE_FAILED'],
    ...ROLLBACK,
    handle: async ({ params: { name }, body: { to, reason }, request }, needs): Promise<RolledBack> => {
      const { number, revision } = targetOf(needs, name, to);
      const by = callerOf(request);
      const rollout = await needs.rolloutWrites.rollback(name, { to: revision, reason, by });
      return { name, to: number, revision, rollout: shown(needs, rollout) };
    },
  }),
  defineRoute('POST', '/configurations/:name/rollback/file', {
    scope: 'CONFIGURE',
    summary: 'Writes an older content into the file, as a PUT of it would.',
    errors: ['DRV_REVISION_UNKNOWN', ...WRITE_ERRORS],
    ...ROLLBACK,
    handle: async ({ params: { name }, body: { to, reason }, request }, needs): Promise<RolledBack> => {
      const { number, revision } = targetOf(needs, name, to);
      const inForce = needs.configurations.get(name)?.value.hash ?? '';
      await needs.configurationFiles.put(name, revisionContent(needs, { number, revision }), {
        precondition: { is: 'existing', revisions: [inForce] },
        by: { key: callerOf(request), rollback: reason },
      });
      return { name, to: number, revision, rollout: null };
    },
  }),
];

/** The content of this number; `to` undefined: the last good one. Throws DRV_REVISION_UNKNOWN. */
function targetOf(needs: RouteNeeds, name: string, to: number | undefined): PastContent {
  const contents = configurationHistory(needs, name);
  if (to !== undefined) return contentNumbered(contents, { name, number: to });
  const before = contents.find(({ isRollbackTarget }) => isRollbackTarget);
  if (before !== undefined) return before;
  throw revisionUnknown(
    `configuration ${name} has no earlier content that was good: choose one of its history by its number`,
  );
}
