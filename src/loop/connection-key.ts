/**
 * Names a connection: the same name for a socket and the TLS socket around it, but different names for all open
 * connections.
 */
import type { Socket } from 'node:net';

export function connectionKey({
  localAddress,
  remoteAddress,
  remotePort,
}: Pick<Socket, 'localAddress' | 'remoteAddress' | 'remotePort'>): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
