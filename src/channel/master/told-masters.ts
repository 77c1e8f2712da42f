/** The list of masters in the form that nodes get. */
import type { MasterPeer } from '../../leadership/leadership.js';
import { BOUNDS } from '../protocol/messages.js';

export function toldMasters(masters: readonly MasterPeer[]): MasterPeer[] {
  return masters.slice(0, BOUNDS.masters).map(({ nodeId, clusterAddress }) => ({ nodeId, clusterAddress }));
}
