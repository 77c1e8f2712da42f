/** Decides by a node's `hello` whether the hub takes its connection. The hub gathers the facts. */
import { lastInCommon, type StoreLine } from '../../store/epoch-base.js';
import { type MessageOf, PROTOCOL_VERSION } from '../protocol/messages.js';
import type { Peer } from '../trust/members.js';

/** Why a connection is refused. */
export interface Objection {
  /** A fixed text, such as `other cluster`. The log folds refusals with equal causes. */
  readonly cause: string;
  /** The reason in words, for the node and for the log. */
  readonly reason: string;
  /** True when waiting does not help: the operator must change something. */
  readonly isFinal: boolean;
  /** True when the node knows more than this master: another master may lead. */
  readonly isBehind?: true;
}

interface HelloFacts {
  /** The node that the cluster server let in; undefined for the wrapper in the master's process. */
  readonly peer: Peer | undefined;
  readonly clusterName: string;
  /** The revision of the master's store. */
  readonly revision: number;
  /** The line of the master's store. */
  readonly line: StoreLine;
  /** True when another live connection already has this node's name. */
  readonly isConnected: boolean;
}

export const NO_HELLO: Objection = {
  cause: 'no hello',
  reason: 'the first message must be hello',
  isFinal: false,
};

export function objectionTo(
  { nodeId, protocol, clusterName: wanted, seen = 0, line: seenLine = 0 }: MessageOf<'hello'>,
  { peer, clusterName, revision, line, isConnected }: HelloFacts,
): Objection | undefined {
  if (peer !== undefined && peer.nodeId !== nodeId)
    return {
      cause: 'other name',
      reason: `node ${peer.nodeId} calls itself ${nodeId}: its certificate is for ${peer.nodeId} alone`,
      isFinal: true,
    };
  if (protocol !== PROTOCOL_VERSION)
    return {
      cause: 'protocol',
      reason: `this master speaks protocol ${PROTOCOL_VERSION}, the node ${nodeId} speaks ${protocol}: run the same Drover version on both`,
      // This refusal may end by itself: during an upgrade, the node may be upgraded before the master.
      isFinal: false,
    };
  if (wanted !== clusterName)
    return {
      cause: 'other cluster',
      reason: `this master's cluster is ${clusterName}, the node ${nodeId} asks for ${wanted}: check clusterName in config.json`,
      isFinal: true,
    };
  // After a restore, the node's revision may stand for other changes, so only the common part of the line counts.
  if (seen > Math.min(revision, lastInCommon(line, seenLine)))
    // Refuse the node: it may still run instances that the restored store has lost, and a snapshot would end them.
    return {
      cause: 'older store',
      reason: `node ${nodeId} has seen revision ${seen} of this master's store, which is older now, such as a restored backup: it keeps what it has. To take the older state, restart Drover there with --accept-older`,
      isFinal: false,
      isBehind: true,
    };
  if (!isConnected) return undefined;
  return {
    cause: 'connected already',
    reason: `a node with nodeId ${nodeId} is connected already: give each node its own nodeId in config.json`,
    isFinal: false,
  };
}
