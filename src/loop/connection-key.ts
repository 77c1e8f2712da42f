/** Names a connection. A socket and the TLS socket around it have the same name; two open connections never have. */
import type { Socket } from 'node:net';

type Ends = Pick<Socket, 'localAddress' | 'remoteAddress' | 'remotePort'>;

export function connectionKey({ localAddress, remoteAddress, remotePort }: Ends): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
