/** What nodes are told of the masters of their cluster. */
import type { MasterPeer } from '../../leadership/leadership.js';
import { BOUNDS } from '../protocol/messages.js';

export function toldMasters(masters: readonly MasterPeer[]): MasterPeer[] {
  return masters.slice(0, BOUNDS.masters).map(({ nodeId, clusterAddress }) => ({ nodeId, clusterAddress }));
}
