/** Names a connection. A socket and the TLS socket around it have the same name; two open connections never have. */
import type { Socket } from 'node:net';

export function connectionKey({
  localAddress,
  remoteAddress,
  remotePort,
}: Pick<Socket, 'localAddress' | 'remoteAddress' | 'remotePort'>): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
