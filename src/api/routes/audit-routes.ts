/** `GET /audit`: the latest entries of the audit trail. */
import { z } from 'zod';
import { type AuditTrail, auditEntrySchema } from '../../model/audit.js';
import { defineRoute, nothing, type Route } from '../http/route.js';

const MAX_LIMIT = 1000;
const LIMIT_RULE = `must be a whole number from 1 to ${MAX_LIMIT}`;

const auditQuery = z.object({
  limit: z.coerce
    .number({ error: LIMIT_RULE })
    .int(LIMIT_RULE)
    .min(1, LIMIT_RULE)
    .max(MAX_LIMIT, LIMIT_RULE)
    .default(100),
});

export interface AuditNeeds {
  readonly audit: AuditTrail;
}

export function auditRoutes({ audit }: AuditNeeds): readonly Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/audit',
      scope: 'READ',
      summary: 'The last entries of the audit trail, newest last.',
      params: nothing,
      query: auditQuery,
      body: nothing,
      answers: { 200: { description: 'entries', schema: z.array(auditEntrySchema) } },
      handle: ({ query }) => audit.last(query.limit),
    }),
  ];
}
