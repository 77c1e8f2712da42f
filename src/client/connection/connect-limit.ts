/** Bounds how long a request waits for its connection. */
import type { ClientRequest } from 'node:http';
import { unreachable } from './failures.js';
import type { Target } from './target.js';

/** Ends the request with a ClientError when the connection and its handshake take too long. */
export function boundConnect(request: ClientRequest, target: Target, limitMs: number): void {
  const timer = setTimeout(() => request.destroy(unconnected(target, limitMs)), limitMs);
  const clear = (): void => clearTimeout(timer);
  request.once('close', clear);
  request.once('socket', (socket) => {
    if (!socket.connecting && request.reusedSocket) clear();
    else socket.once(target.url.startsWith('https:') ? 'secureConnect' : 'connect', clear);
  });
}

function unconnected(target: Target, limitMs: number): Error {
  return unreachable(
    target,
    `it takes no connection within ${limitMs / 1000} s: check host and port, and firewalls on the way`,
  );
}
