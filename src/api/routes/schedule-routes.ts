/** `/schedules` and what people ask of them. */
import { z } from 'zod';
import { shownScheduleSchema } from '../../model/schedule.js';
import {
  askSchedule,
  freezeConfiguration,
  frozenConfigurationSchema,
  SCHEDULE_ACTIONS,
  schedulesOf,
} from '../../state/schedules.js';
import { callerOf, seesConfiguration } from '../gate/auth.js';
import { defineRoute, type Route } from '../http/route.js';
import { reasonQuery } from './configuration-override-routes.js';
import { expiryOf, expirySchema } from './key-routes.js';
import { ofConfiguration } from './subjects.js';

const schedules = { description: 'schedules', schema: z.array(shownScheduleSchema) };
const freezing = {
  ...ofConfiguration,
  scope: 'OPERATE',
  errors: ['DRV_RECORD_UNREADABLE', 'DRV_STORE_WRITE_FAILED'],
  answers: { 200: { description: 'how it is frozen', schema: frozenConfigurationSchema } },
} as const;

export const scheduleRoutes: readonly Route[] = [
  defineRoute('GET', '/schedules', {
    scope: 'READ',
    reach: 'filtered',
    summary:
      'The schedules of all configurations, with their next due times and what became of the last ones.',
    answers: { 200: schedules },
    handle: ({ request }, needs) =>
      [...needs.configurations.entries()].flatMap(([name]) =>
        seesConfiguration(request, name) ? schedulesOf(needs, name) : [],
      ),
  }),
  defineRoute('POST', '/configurations/:name/schedules/:schedule/:action', {
    ...ofConfiguration,
    scope: 'OPERATE',
    summary:
      'Acts on a schedule now, skips its next due time, pauses it, or resumes it and takes a skip back.',
    errors: [
      'DRV_CONFIGURATION_FROZEN',
      'DRV_SCHEDULE_UNKNOWN',
      'DRV_RECORD_UNREADABLE',
      'DRV_STORE_WRITE_FAILED',
    ],
    params: ofConfiguration.params.extend({
      schedule: z.string().describe('name of the schedule'),
      action: z.enum(SCHEDULE_ACTIONS).describe('what to do'),
    }),
    answers: { 200: schedules },
    handle: ({ params, request }, needs) => askSchedule(needs, { ...params, by: callerOf(request) }),
  }),
  defineRoute('POST', '/configurations/:name/freeze', {
    ...freezing,
    summary:
      'Freezes a configuration: no schedule acts, no rollout begins, and its content stays as it is. Repeatable.',
    body: z.strictObject({
      until: expirySchema
        .default('never')
        .describe('when it ends by itself: a time from now such as `2h`, a date or an instant, or `never`'),
      reason: reasonQuery.shape.reason.describe('why, for those who look later'),
    }),
    handle: ({ params: { name }, body: { until, reason = null }, request }, needs) => {
      const at = expiryOf(until, needs.clock.now(), 'until');
      return freezeConfiguration(needs, name, { by: callerOf(request), until: at, reason });
    },
  }),
  defineRoute('DELETE', '/configurations/:name/freeze', {
    ...freezing,
    summary: 'Ends the freeze of a configuration: what its file says now comes into force. Repeatable.',
    handle: ({ params: { name } }, needs) => freezeConfiguration(needs, name, null),
  }),
];
