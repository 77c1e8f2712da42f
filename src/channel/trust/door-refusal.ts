/** A refusal of the cluster port. The reasons are few, so that a log can fold refusals by them. */
import { DroverError, type ErrorCode } from '../../model/errors.js';

type RefusalReason =
  | 'malformed'
  | 'protocol'
  | 'token-unknown'
  | 'token-expired'
  | 'token-used-up'
  | 'token-other-kind'
  | 'no-handover'
  | 'other-cluster'
  | 'name-taken'
  | 'bad-key'
  | 'no-certificate'
  | 'other-authority'
  | 'no-member'
  | 'no-master'
  | 'member-unreadable'
  | 'certificate-ended'
  | 'certificate-replaced';

interface RefusalOptions {
  /** The node that a valid token or a certificate of this cluster speaks for; absent: a stranger. */
  readonly nodeId?: string;
  /** Default: DRV_JOIN_REFUSED, for refusals that waiting does not heal. */
  readonly code?: ErrorCode;
}

export class DoorRefusal extends DroverError {
  readonly reason: RefusalReason;
  readonly nodeId: string | null;

  /** `message`: for both sides. It repeats nothing of a peer that has no valid token or certificate. */
  constructor(
    reason: RefusalReason,
    message: string,
    { nodeId, code = 'DRV_JOIN_REFUSED' }: RefusalOptions = {},
  ) {
    super(code, message);
    this.name = 'DoorRefusal';
    this.reason = reason;
    this.nodeId = nodeId ?? null;
  }
}
