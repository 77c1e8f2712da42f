/** Names a connection: the same for a socket and the TLS socket around it, different for any other that is open. */
import type { Socket } from 'node:net';

export function connectionKey({
  localAddress,
  remoteAddress,
  remotePort,
}: Pick<Socket, 'localAddress' | 'remoteAddress' | 'remotePort'>): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
