/** `/configuration-overrides` and `.../reset`: what callers have changed beside the files, and the way back to the files. */
import { z } from 'zod';
import { nameSchema } from '../../model/names.js';
import { listedOverridesSchema, listOverrides } from '../../operations/configuration-overrides.js';
import { callerOf, seesConfiguration } from '../gate/auth.js';
import { shownTo, valuesQuery } from '../gate/shown-values.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';

/** The query of each route that makes an override. */
export const reasonQuery = z.object({
  reason: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .optional()
    .describe('why, for those who read the overrides later; kept where the file is not written'),
});

export const configurationOverrideRoutes: readonly Route[] = [
  defineRoute('GET', '/configuration-overrides', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'What callers have changed of configurations whose files Drover does not write.',
    query: valuesQuery,
    answers: jsonAnswer('the overrides', listedOverridesSchema),
    handle: ({ query, request }, needs) =>
      listOverrides(needs, {
        sees: (name) => seesConfiguration(request, name),
        shown: shownTo(request, query.values === 'true'),
      }),
  }),
  defineRoute('POST', '/configurations/:name/reset', {
    scope: 'CONFIGURE',
    reach: 'new-configuration',
    summary: 'Ends the override of one field, or all overrides: the file counts again.',
    errors: ['DRV_OVERRIDE_UNKNOWN', 'DRV_CONFIGURATION_NOT_WRITABLE', 'DRV_STORE_WRITE_FAILED'],
    params: z.object({ name: nameSchema.describe('name of the configuration') }),
    body: z.strictObject({
      field: z.string().optional().describe('such as `minimumServiceCount`; default: all overrides'),
    }),
    answers: jsonAnswer('the overrides that are left of it', listedOverridesSchema),
    handle: async ({ params: { name }, body, request }, needs) => {
      await needs.configurationFiles.reset(name, body.field, { key: callerOf(request) });
      return listOverrides(needs, { sees: (one) => one === name, shown: 'none' });
    },
  }),
];
