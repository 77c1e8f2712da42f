/** Records writes of clients in the audit trail, before their answers go out. Commands record themselves. */
import type { FastifyRequest, onRouteHookHandler, onSendHookHandler } from 'fastify';
import type { AuditTrail } from '../../model/audit.js';
import { actionOf, subjectOf } from './audit-entry.js';
import { type Actor, actorLabel } from './auth.js';

/** Each command that it runs has an entry of its own; an entry for the request would add nothing. */
const RUNS_COMMANDS = '/api/commands/execute';

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** The hook for every new route: the writes through it are recorded, with how they ended. */
export function auditWrites(audit: Pick<AuditTrail, 'record'>): onRouteHookHandler {
  const record = recordWrites(audit);
  return (route) => {
    const isRead = [route.method].flat().every((method) => READ_METHODS.has(method));
    if (!isRead) route.onSend = record;
  };
}

/** The gate records the requests that it refuses; they have no actor here. */
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
  // Instances report often and may be hostile. The trail is for what operators and tools do.
  if (actor.kind === 'instance' || request.isOwn) return true;
  return status === 200 && (request.isRoutine || request.routeOptions.url === RUNS_COMMANDS);
}
