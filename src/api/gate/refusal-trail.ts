/**
 * Records refused authentications in the audit trail, limited for each address and for all together. The gate uses it.
 */
import type { FastifyRequest } from 'fastify';
import { addressBlockOf } from '../../loop/address-block.js';
import { FailureLimiter } from '../../loop/failure-limiter.js';
import type { AuditTrail } from '../../model/audit.js';
import { actionOf, subjectOf } from './audit-entry.js';

/** The limit for one address: enough for any honest mistake. A script with an old key adds an entry now and then. */
const LIMIT_OF_ONE = { burst: 30, refillMs: 600_000 };
/** The limit for all addresses: attackers from many addresses cannot push the other entries out of the files. */
const LIMIT = { burst: 300, refillMs: 1000 };
const LEFT_OUT = 'further refusals are left out until they pause';

interface Refusal {
  /** The label of a key whose scope was not enough; null: no valid key was sent. */
  readonly key: string | null;
  readonly status: number;
  /** The time in monotonic milliseconds. */
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
