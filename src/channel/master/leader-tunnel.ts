/**
 * Opens connections of this master to another master, through its cluster port: for its own node, to its API, or to its
 * desk.
 */
import type { TLSSocket } from 'node:tls';
import type { MasterPeer } from '../../leadership/leadership.js';
import type { Clock } from '../../loop/clock.js';
import { channelClosed } from '../../model/errors.js';
import { parseHostPort } from '../../model/plain/host-port.js';
import type { Transport } from '../protocol/transport.js';
import type { Authority } from '../trust/authority.js';
import { MasterDialer } from '../wrapper/master-dialer.js';

interface LeaderTunnelOptions {
  readonly authority: Authority;
  readonly silenceMs: number;
  readonly clock: Clock;
}

/** The connections to another master. All throw the errors of MasterDialer. */
interface MasterDoor {
  /** Opens the connection over which a master that leads feeds this node. */
  channel(signal: AbortSignal): Promise<Transport>;
  /** Opens a connection to the API of a master that leads. */
  tunnel(signal: AbortSignal): Promise<TLSSocket>;
  /** Opens a connection to the desk of a master, leading or not. */
  desk(signal: AbortSignal): Promise<Transport>;
}

/**
 * Makes the connections to another master. They present this master's server certificate, which only masters have.
 */
export async function doorOf(
  { authority, silenceMs, clock }: LeaderTunnelOptions,
  { nodeId, clusterAddress }: MasterPeer,
): Promise<MasterDoor> {
  const at = parseHostPort(clusterAddress);
  if (at === undefined) throw channelClosed(`${clusterAddress} is no address of a master`);
  const { certificate } = await authority.ensure();
  const credential = await authority.serverCredential();
  const fellow = { nodeId, credential, authority: certificate };
  const dialer = new MasterDialer({ ...at, silenceMs, clock, isOnly: false });
  return {
    channel: (signal) => dialer.open(credential, certificate, signal),
    tunnel: (signal) => dialer.tunnel(fellow, signal),
    desk: (signal) => dialer.openDesk(fellow, signal),
  };
}
