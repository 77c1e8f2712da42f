/** Records refused authentications in the audit trail. The limit counts all addresses together. Used by the gate. */
import type { FastifyRequest } from 'fastify';
import { FailureLimiter } from '../../loop/failure-limiter.js';
import type { AuditTrail } from '../../model/audit.js';
import { actionOf, subjectOf } from './audit-entry.js';

/**
 * Enough for any honest mistake. Too few for an attack from many addresses to push the other entries out of the
 * files.
 */
const LIMIT = { burst: 300, refillMs: 1000 };
const LEFT_OUT = 'further refusals are left out until they pause';

export interface Refusal {
  /** Label of a key whose scope was not enough; null: no valid key. */
  readonly key: string | null;
  readonly status: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}

export class RefusalTrail {
  readonly #audit: Pick<AuditTrail, 'record'>;
  readonly #limiter = new FailureLimiter(LIMIT);

  constructor(audit: Pick<AuditTrail, 'record'>) {
    this.#audit = audit;
  }

  /** Records a refusal, unless too many came before. Never throws. */
  record(request: FastifyRequest, { key, status, at }: Refusal): void {
    const { retryAfterMs, isFirst } = this.#limiter.fail('', at);
    if (retryAfterMs > 0 && !isFirst) return;
    const subject = isFirst ? LEFT_OUT : subjectOf(request);
    const action = actionOf(request);
    this.#audit.record({ key, action, subject, address: request.ip, result: String(status) });
  }
}
