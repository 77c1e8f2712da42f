/** Records every write through the API, before its answer goes out. Commands record themselves. */
import type { FastifyRequest, onSendHookHandler } from 'fastify';
import type { AuditTrail } from '../../model/audit.js';
import { actionOf, subjectOf } from './audit-entry.js';
import { actorLabel } from './auth.js';

/** Each command is an entry of its own; the request around it says nothing more. */
const RUNS_COMMANDS = '/api/commands/execute';

/** Hook for routes that write. Requests that were refused before have no actor and are recorded by the gate. */
export function auditWrites(audit: Pick<AuditTrail, 'record'>): onSendHookHandler {
  return (request, reply, _payload, done) => {
    const { actor, ip: address } = request;
    if (actor !== null && !isLeftOut(request, reply.statusCode)) {
      const result = String(reply.statusCode);
      const subject = subjectOf(request);
      audit.record({ key: actorLabel(actor), action: actionOf(request), subject, address, result });
    }
    done();
  };
}

function isLeftOut({ actor, isRoutine, routeOptions }: FastifyRequest, status: number): boolean {
  // Instances report themselves again and again, and may be hostile: the trail is of what operators and tools do.
  if (actor?.kind === 'instance') return true;
  return status === 200 && (isRoutine || routeOptions.url === RUNS_COMMANDS);
}
