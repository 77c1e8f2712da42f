/** `/sessions/codes` and `/sessions/redeem`: signs a browser in with a link that works once. */

import { z } from 'zod';
import { DroverError } from '../../model/errors.js';
import { defineRoute, type Route } from '../http/route.js';
import { callerOf, createdSessionSchema, createSession } from './session-routes.js';

const MAX_CODE_CHARS = 100;

const codeSchema = z.object({
  code: z.string().describe('for the address of the dashboard: `/ui/#code=...`'),
  expiresAt: z.number().describe('the end of the code, in Unix milliseconds'),
});

export const signInRoutes: readonly Route[] = [
  defineRoute('POST', '/sessions/codes', {
    scope: 'READ',
    reach: 'filtered',
    summary: 'Makes a sign-in code of the key of this call. The code makes one session of the key, once.',
    errors: ['DRV_DASHBOARD_OFF'],
    answers: { 201: { description: 'the code', schema: codeSchema } },
    handle: async ({ request }, { codes, dashboard }, reply) => {
      await dashboard.require();
      const made = codes.make(callerOf(request));
      reply.code(201).header('cache-control', 'no-store');
      return made;
    },
  }),
  defineRoute('POST', '/sessions/redeem', {
    scope: 'open',
    summary: 'Makes a session of a code, which is then used up; only this answer shows its token.',
    errors: ['DRV_SIGN_IN_CODE_UNKNOWN', 'DRV_STORE_WRITE_FAILED'],
    body: z.object({ code: z.string().max(MAX_CODE_CHARS) }),
    answers: { 201: { description: 'the new session', schema: createdSessionSchema } },
    handle: async ({ body, request }, needs, reply) => {
      const taken = await needs.codes.take(body.code, request.ip, (access) => {
        // Set so that the audit trail names the key.
        request.actor = access;
        return createSession(needs, access, { address: request.ip });
      });
      if (taken === undefined) {
        needs.gate.noteWrongCode(request);
        throw unknownCode();
      }
      request.subject = taken.made.id;
      reply.code(201).header('cache-control', 'no-store');
      return taken.made;
    },
  }),
];

function unknownCode(): DroverError {
  return new DroverError(
    'DRV_SIGN_IN_CODE_UNKNOWN',
    'the code is wrong, was used, is older than a minute, or is of a key that may not be used from here: "drover ui" makes a new one',
  );
}
