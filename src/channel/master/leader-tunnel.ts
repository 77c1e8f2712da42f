/** Opens connections of this master to another master, through its cluster port: to its API, or to its desk. */
import type { TLSSocket } from 'node:tls';
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import { DroverError } from '../../model/errors.js';
import { parseHostPort } from '../../model/host-port.js';
import type { Transport } from '../protocol/transport.js';
import type { Authority } from '../trust/authority.js';
import { type FellowMaster, MasterDialer } from '../wrapper/master-dialer.js';

interface LeaderTunnelOptions {
  readonly authority: Authority;
  readonly silenceMs: number;
  readonly clock: Clock;
}

/**
 * Opens a connection to the API of a master that leads. Presents this master's server certificate, which only masters
 * have. Throws the errors of MasterDialer.
 */
export async function openLeaderTunnel(
  options: LeaderTunnelOptions,
  peer: MasterPeer,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const [dialer, fellow] = await dialerOf(options, peer);
  return dialer.tunnel(fellow, signal);
}

/** Opens a connection to the desk of a master, leading or not; otherwise like `openLeaderTunnel`. */
export async function openMasterDesk(
  options: LeaderTunnelOptions,
  peer: MasterPeer,
  signal: AbortSignal,
): Promise<Transport> {
  const [dialer, fellow] = await dialerOf(options, peer);
  return dialer.openDesk(fellow, signal);
}

async function dialerOf(
  { authority, silenceMs, clock }: LeaderTunnelOptions,
  { nodeId, clusterAddress }: MasterPeer,
): Promise<[MasterDialer, FellowMaster]> {
  const at = parseHostPort(clusterAddress);
  if (at === undefined)
    throw new DroverError('DRV_CHANNEL_CLOSED', `${clusterAddress} is no address of a master`);
  const { certificate } = await authority.ensure();
  const credential = await authority.serverCredential();
  const dialer = new MasterDialer({ ...at, silenceMs, clock, isOnly: false });
  return [dialer, { nodeId, credential, authority: certificate }];
}
