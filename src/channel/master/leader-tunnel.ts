/** Opens connections of this master to another master, through its cluster port: to its API, or to its desk. */
import type { TLSSocket } from 'node:tls';
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import { parseHostPort } from '../../model/host-port.js';
import type { Authority } from '../trust/authority.js';
import { type DESK_PATH, TUNNEL_PATH } from '../trust/join-messages.js';
import { MasterDialer } from '../wrapper/master-dialer.js';

export interface LeaderTunnelOptions {
  readonly authority: Authority;
  readonly silenceMs: number;
  readonly clock: Clock;
  /** Default: the path of the API, which only the leader opens. */
  readonly path?: typeof TUNNEL_PATH | typeof DESK_PATH;
}

/**
 * Opens the connection. It shows this master's server certificate, which only masters have. Throws what MasterDialer
 * throws.
 */
export async function openLeaderTunnel(
  { authority, silenceMs, clock, path = TUNNEL_PATH }: LeaderTunnelOptions,
  { nodeId, clusterAddress }: MasterPeer,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const at = parseHostPort(clusterAddress);
  if (at === undefined)
    throw new DroverError('DRV_CHANNEL_CLOSED', `${clusterAddress} is no address of a master`);
  const { certificate } = await authority.ensure();
  const credential = await authority.serverCredential();
  const dialer = new MasterDialer({ ...at, silenceMs, clock, isOnly: false });
  return dialer.tunnel({ nodeId, credential, path }, certificate, signal);
}
