/** `POST /plan`: the changes that whole contents would make, before anything is written. */

import { z } from 'zod';
import { configurationSchema } from '../../model/configuration.js';
import { keepManagedSchema } from '../../operations/configuration-content.js';
import { changePlanSchema, planAsBefore, planChanges } from '../../operations/plan/change-plan.js';
import { requireSight, seesConfiguration } from '../gate/auth.js';
import { shownTo } from '../gate/shown-values.js';
import { defineRoute, jsonAnswer, type Route } from '../http/route.js';
import { rawConfiguration } from './configuration-routes.js';

/** Limits the work of one request. */
const MOST_CONFIGURATIONS = 10_000;
const MOST_VALUES = 70_000;

const orderFields = {
  prune: z
    .boolean()
    .default(false)
    .describe('plan to remove all other configurations that the key sees, as `apply --prune` does'),
  keepManaged: keepManagedSchema,
  showValues: z
    .boolean()
    .default(false)
    .describe(
      'show values that look like secrets too; keys below scope ALL see no environmentVariables and properties',
    ),
  fingerprint: z.string().max(128).optional().describe('answer 409 unless this is still the plan'),
};

/** The contents are judged as PUT judges them. */
const orderSchema = z.object({
  configurations: z
    .array(rawConfiguration)
    .max(MOST_CONFIGURATIONS)
    .describe('whole configurations, each with its name'),
  ...orderFields,
});

export const planRoutes: readonly Route[] = [
  defineRoute('POST', '/plan', {
    scope: 'PLAN',
    reach: 'filtered',
    summary:
      'The changes that whole configurations would make, and the effects on instances. Writes nothing.',
    errors: ['DRV_CONFIGURATION_INVALID', 'DRV_CONFIGURATION_REFUSED', 'DRV_PLAN_CHANGED'],
    body: orderSchema,
    mostValues: MOST_VALUES,
    documentedBody: z.object({ configurations: z.array(configurationSchema), ...orderFields }),
    answers: jsonAnswer('the plan', changePlanSchema),
    handle: ({ body, request }, needs) => {
      // The request writes nothing, so the audit trail needs no entry.
      request.isRoutine = true;
      const { configurations, prune, keepManaged, fingerprint } = body;
      for (const { name } of configurations) if (typeof name === 'string') requireSight(request, name);
      const order = {
        configurations,
        prune,
        keepManaged,
        shown: shownTo(request, body.showValues),
        sees: (name: string) => seesConfiguration(request, name),
      };
      return fingerprint === undefined ? planChanges(needs, order) : planAsBefore(needs, order, fingerprint);
    },
  }),
];
