/**
 * Reports the connections and requests that the cluster port refused: in the log and, for joins, in the audit trail.
 * Strangers can cause any number of refusals, so equal refusals of one address are folded, and the refusals of all
 * addresses together are limited.
 */
import { addressBlockOf } from '../../loop/address-block.js';
import type { Clock } from '../../loop/clock.js';
import { FailureLimiter } from '../../loop/failure-limiter.js';
import type { AuditTrail } from '../../model/audit.js';
import type { Logger } from '../../telemetry/logger.js';
import { Repeats } from '../../telemetry/repeats.js';

/**
 * The limit for refusals of strangers: enough for any honest mistake, and so few that the trail and the log keep other
 * entries for months.
 */
const LIMIT = { burst: 100, refillMs: 600_000 };
const LEFT_OUT = 'further refusals are left out until they pause';

export interface PortRefusal {
  /** A fixed text of Drover, never a text that a peer wrote. */
  readonly cause: string;
  readonly message: string;
  readonly address: string | undefined;
  /** `channel` with a node id: the peer is a node of this cluster, by its certificate. */
  readonly what: 'handshake' | 'join' | 'channel';
  /** The node; null: the peer is a stranger. */
  readonly nodeId: string | null;
}

interface PortRefusalsOptions {
  readonly audit: Pick<AuditTrail, 'record'>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly logger: Pick<Logger, 'warn'>;
}

export class PortRefusals {
  readonly #options: PortRefusalsOptions;
  readonly #strangers = new Repeats();
  /** The refusals of nodes, kept apart so that strangers cannot push them out. */
  readonly #members = new Repeats();
  readonly #limiter = new FailureLimiter(LIMIT);

  constructor(options: PortRefusalsOptions) {
    this.#options = options;
  }

  /** Reports a refusal, unless an equal refusal was reported lately or too many others came before. Never throws. */
  say(refusal: PortRefusal): void {
    const { cause, address = '', what, nodeId } = refusal;
    const now = this.#options.clock.monotonic();
    if (what === 'channel' && nodeId !== null) {
      const times = this.#members.take(`${cause} ${nodeId}`, now);
      if (times !== undefined) this.#write(refusal, times);
      return;
    }
    const times = this.#strangers.take(`${cause} ${addressBlockOf(address)}`, now);
    if (times === undefined) return;
    const { retryAfterMs, isFirst } = this.#limiter.fail('', now);
    if (retryAfterMs === 0) this.#write(refusal, times);
    else if (isFirst) this.#write({ ...refusal, what: 'join', message: LEFT_OUT, nodeId: LEFT_OUT }, 0);
  }

  #write({ message, address, what, nodeId }: PortRefusal, times: number): void {
    const { audit, logger } = this.#options;
    const more = times === 0 ? '' : ` (${times} times more)`;
    logger.warn(
      { address, ...(times > 0 && { times }) },
      `refused a connection to the cluster port from ${address ?? 'somebody'}: ${message}${more}`,
    );
    if (what !== 'join') return;
    const subject = times === 0 ? nodeId : `${nodeId ?? 'unknown node'}${more}`;
    audit.record({ key: null, action: 'join', subject, address: address ?? null, result: 'failed' });
  }
}
