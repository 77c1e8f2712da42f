/** Records refused authentications in the audit trail, within limits of one address and of all. Used by the gate. */
import type { FastifyRequest } from 'fastify';
import { addressBlockOf } from '../../loop/address-block.js';
import { FailureLimiter } from '../../loop/failure-limiter.js';
import type { AuditTrail } from '../../model/audit.js';
import { actionOf, subjectOf } from './audit-entry.js';

/** Of one address: enough for any honest mistake. A script with an old key adds an entry now and then. */
const LIMIT_OF_ONE = { burst: 30, refillMs: 600_000 };
/** Too few for an attack from many addresses to push the other entries out of the files. */
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
  readonly #addresses = new FailureLimiter(LIMIT_OF_ONE);
  readonly #all = new FailureLimiter(LIMIT);

  constructor(audit: Pick<AuditTrail, 'record'>) {
    this.#audit = audit;
  }

  /** Records a refusal, unless too many came before. Never throws. */
  record(request: FastifyRequest, { key, status, at }: Refusal): void {
    const ofOne = this.#addresses.fail(addressBlockOf(request.ip), at);
    if (ofOne.retryAfterMs > 0 && !ofOne.isFirst) return;
    const ofAll = this.#all.fail('', at);
    if (ofAll.retryAfterMs > 0 && !ofAll.isFirst) return;
    const subject = ofOne.isFirst || ofAll.isFirst ? LEFT_OUT : subjectOf(request);
    this.#audit.record({
      key,
      action: actionOf(request),
      subject,
      address: request.ip,
      result: String(status),
    });
  }
}
