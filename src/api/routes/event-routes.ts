/** `GET /events` and `GET /exits`: what happened in the cluster lately, and how instances ended unasked. */
import { z } from 'zod';
import { MAX_EVENTS, shownEvent, shownEventSchema } from '../../model/event.js';
import {
  type ExitRecord,
  kindOf,
  MOST_EXIT_RECORDS,
  shownExit,
  shownExitSchema,
} from '../../model/exit-record.js';
import { EXIT_CAUSES, MOST_EXIT_LINES } from '../../model/plain/command-limits.js';
import { shownWebhookSchema } from '../../model/webhook.js';
import { accessOf, callerOf } from '../gate/auth.js';
import { sendNoContent } from '../http/json-reply.js';
import { defineRoute, jsonAnswer, type Route, wholeNumber } from '../http/route.js';

const FILTERS = ['configuration', 'instance', 'node'] as const;
const sinceSchema = wholeNumber(0, Number.MAX_SAFE_INTEGER).optional();

export const eventRoutes: readonly Route[] = [
  defineRoute('GET', '/events', {
    scope: 'READ',
    reach: 'filtered',
    summary: `What happened lately, newest last: the last ${MAX_EVENTS} events, equal ones folded into one.`,
    query: z.object({
      configuration: z.string().optional().describe('only events of this configuration'),
      node: z.string().optional().describe('only events of this node'),
      since: sinceSchema.describe('only events that happened at or after this time, Unix milliseconds'),
      limit: wholeNumber(1, MAX_EVENTS).default(MAX_EVENTS).describe('the newest of them'),
    }),
    answers: jsonAnswer('events', z.array(shownEventSchema)),
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
  defineRoute('GET', '/exits', {
    scope: 'READ',
    reach: 'filtered',
    summary: `How instances ended that nobody asked to end, newest last: the last ${MOST_EXIT_RECORDS} of 7 days, also those of instances and nodes that are gone.`,
    query: z.object({
      configuration: z.string().optional().describe('only ends of this configuration'),
      instance: z.string().optional().describe('only ends of this instance'),
      node: z.string().optional().describe('only ends on this node'),
      cause: z.enum(EXIT_CAUSES).optional().describe('only ends of this cause'),
      since: sinceSchema.describe('only ends at or after this time, Unix milliseconds'),
      limit: wholeNumber(1, MOST_EXIT_RECORDS).default(100).describe('the newest of them'),
      lines: wholeNumber(0, MOST_EXIT_LINES).default(MOST_EXIT_LINES).describe('last lines of each'),
    }),
    answers: jsonAnswer('ends', z.array(shownExitSchema)),
    handle: ({ query, request }, { exits }) => {
      const { since = 0, limit, lines, cause, ...wanted } = query;
      const access = accessOf(request);
      const isWanted = (exit: ExitRecord): boolean =>
        (access?.sees(exit.configuration) ?? true) &&
        exit.at >= since &&
        FILTERS.every((field) => wanted[field] === undefined || wanted[field] === exit[field]) &&
        (cause === undefined || kindOf(exit) === cause);
      return [...exits.entries()]
        .filter(([, { value }]) => isWanted(value))
        .sort(([, { value: a }], [, { value: b }]) => a.at - b.at)
        .slice(-limit)
        .map(([id, { value }]) => shownExit(id, value, lines));
    },
  }),
  defineRoute('GET', '/webhooks', {
    scope: 'READ',
    summary: 'The webhooks of the leader, and how far each has come.',
    answers: jsonAnswer('webhooks', z.array(shownWebhookSchema)),
    handle: (_call, { webhooks }) => [...webhooks()],
  }),
  defineRoute('POST', '/webhooks/:name/test', {
    scope: 'OPERATE',
    summary: 'Sends a notice of no event to the receiver of a webhook.',
    errors: ['DRV_WEBHOOK_UNKNOWN', 'DRV_WEBHOOK_FAILED'],
    params: z.object({ name: z.string().describe('name of the file without .json') }),
    answers: { 204: { description: 'the receiver took it' } },
    handle: async ({ params, request }, { led }, reply) => {
      await led().notices.test(params.name, callerOf(request) ?? 'nobody');
      sendNoContent(reply);
    },
  }),
];
