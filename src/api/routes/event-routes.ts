/** `GET /events`: what happened in the cluster lately. */
import { z } from 'zod';
import { MAX_EVENTS, shownEvent, shownEventSchema } from '../../model/event.js';
import { accessOf } from '../gate/auth.js';
import { defineRoute, type Route, wholeNumber } from '../http/route.js';

export const eventRoutes: readonly Route[] = [
  defineRoute({
    path: '/events',
    scope: 'READ',
    reach: 'filtered',
    summary: `What happened lately, newest last: the last ${MAX_EVENTS} events, equal ones folded into one.`,
    query: z.object({
      configuration: z.string().optional().describe('only events of this configuration'),
      node: z.string().optional().describe('only events of this node'),
      since: wholeNumber(0, Number.MAX_SAFE_INTEGER)
        .optional()
        .describe('only events that happened at or after this time, Unix milliseconds'),
      limit: wholeNumber(1, MAX_EVENTS).default(MAX_EVENTS).describe('the newest of them'),
    }),
    answers: { 200: { description: 'events', schema: z.array(shownEventSchema) } },
    handle: ({ query, request }, { events }) => {
      const { configuration, node, since = 0, limit } = query;
      const access = accessOf(request);
      // A key that is restricted to configurations sees nothing of the cluster itself.
      const isSeen = (name: string | null): boolean =>
        name === null ? (access?.configurations ?? null) === null : (access?.sees(name) ?? true);
      return [...events.entries()]
        .map(([id, { value }]) => shownEvent(id, value))
        .filter(
          (event) =>
            isSeen(event.configuration) &&
            (configuration === undefined || event.configuration === configuration) &&
            (node === undefined || event.node === node) &&
            event.until >= since,
        )
        .sort((a, b) => a.until - b.until || a.id.localeCompare(b.id))
        .slice(-limit);
    },
  }),
];
