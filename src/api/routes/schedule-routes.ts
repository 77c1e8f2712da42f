/** `/schedules` and what people ask of them. */
import { z } from 'zod';
import { shownScheduleSchema } from '../../model/schedule.js';
import { askSchedule, SCHEDULE_ACTIONS, schedulesOf } from '../../state/schedules.js';
import { callerOf, seesConfiguration } from '../gate/auth.js';
import { defineRoute, type Route } from '../http/route.js';
import { ofConfiguration } from './subjects.js';

const schedules = { description: 'schedules', schema: z.array(shownScheduleSchema) };
const shared = { scope: 'OPERATE', reach: 'configuration' } as const;

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
    ...shared,
    summary:
      'Acts on a schedule now, skips its next due time, pauses it, or resumes it and takes a skip back.',
    errors: ['DRV_SCHEDULE_UNKNOWN', 'DRV_RECORD_UNREADABLE', 'DRV_STORE_WRITE_FAILED'],
    params: ofConfiguration.params.extend({
      schedule: z.string().describe('name of the schedule'),
      action: z.enum(SCHEDULE_ACTIONS).describe('what to do'),
    }),
    answers: { 200: schedules },
    handle: ({ params, request }, needs) => askSchedule(needs, { ...params, by: callerOf(request) }),
  }),
];
