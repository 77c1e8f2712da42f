/** Records writes of clients in the audit trail, before their answers are sent. Commands record themselves. */
import type { FastifyRequest, onRouteHookHandler, onSendHookHandler } from 'fastify';
import type { AuditTrail } from '../../model/audit.js';
import { actionOf, subjectOf } from './audit-entry.js';
import { type Actor, actorLabel } from './auth.js';

/** Each command that this route runs has its own entry, so the request needs none. */
const RUNS_COMMANDS = '/api/commands/execute';

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The hook for every new route. It records the writes through the route, with their outcome. */
export function auditWrites(audit: Pick<AuditTrail, 'record'>): onRouteHookHandler {
  const record = recordWrites(audit);
  return (route) => {
    const isRead = [route.method].flat().every((method) => READ_METHODS.has(method));
    if (!isRead) route.onSend = record;
  };
}

/** Records the writes. The gate records the requests that it refuses; these have no actor here. */
function recordWrites(audit: Pick<AuditTrail, 'record'>): onSendHookHandler {
  return (request, reply, _payload, done) => {
    const { actor } = request;
    if (actor !== null && !isLeftOut(actor, request, reply.statusCode))
      audit.record({
        key: actorLabel(actor),
        action: actionOf(request),
        subject: subjectOf(request),
        address: request.ip,
        result: String(reply.statusCode),
      });
    done();
  };
}

function isLeftOut(actor: Actor, request: FastifyRequest, status: number): boolean {
  // Leave out the reports of instances, which come often and may be hostile. The trail records the actions of
  // operators and tools.
  if (actor.kind === 'instance' || request.isOwn) return true;
  return status === 200 && (request.isRoutine || request.routeOptions.url === RUNS_COMMANDS);
}
