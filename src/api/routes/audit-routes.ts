/** `GET /audit`: the latest entries of the audit trail. */

import { z } from 'zod';
import { auditEntrySchema } from '../../model/audit.js';
import { defineRoute, jsonAnswer, type Route, wholeNumber } from '../http/route.js';
import { addWarnings } from '../http/warning-headers.js';

const MAX_LIMIT = 1000;
/** Longer than the limit for another master's answer. */
const DEADLINE_MS = 15_000;

export const auditRoutes: readonly Route[] = [
  defineRoute('GET', '/audit', {
    scope: 'READ',
    summary:
      'The last entries of the audit trails of all masters, newest last. A `Warning` header names each master that did not answer.',
    query: z.object({ limit: wholeNumber(1, MAX_LIMIT).default(100) }),
    answers: jsonAnswer('entries', z.array(auditEntrySchema)),
    handle: async ({ query }, { audit, auditOfMasters }, reply) => {
      if (auditOfMasters === undefined) return audit.last(query.limit);
      const { entries, missing } = await auditOfMasters(query.limit, AbortSignal.timeout(DEADLINE_MS));
      addWarnings(
        reply,
        missing.map(({ nodeId, why }) => `the entries of master ${nodeId} are missing: ${why}`),
      );
      return entries;
    },
  }),
];
