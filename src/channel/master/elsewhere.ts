/** The answer of a master that does not lead to a peer that needs the leader. */
import type { Leadership, MasterPeer } from '../../leadership/leadership.js';
import type { Transport } from '../protocol/transport.js';

type Knowledge = Pick<Leadership, 'leader' | 'masters'>;

/** The message and the leader. `leader` null: this master knows of no leader. */
export function elsewhere(leadership: Pick<Leadership, 'leader'> | undefined): {
  readonly error: string;
  readonly leader: MasterPeer | null;
} {
  const { nodeId, clusterAddress } = leadership?.leader() ?? {};
  return nodeId === undefined || clusterAddress === undefined
    ? { error: 'no master leads at this moment: try again', leader: null }
    : { error: `master ${nodeId} leads, at ${clusterAddress}`, leader: { nodeId, clusterAddress } };
}

/** Answers the first message of a node with the name of the leader, and ends the connection. */
export function pointElsewhere(transport: Transport, leadership: Knowledge | undefined): void {
  transport.onFrame(() => {
    const { error: reason, leader } = elsewhere(leadership);
    transport.send({ type: 'refused', reason, leader, masters: [...(leadership?.masters() ?? [])] });
    transport.close(reason);
  });
}
