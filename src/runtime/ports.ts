/**
 * Finds out whether a port is free on this node by binding it. Another program may take the port a moment later. The
 * check only spares an instance a start that cannot work; the instance's own bind decides.
 */
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';
import type { Protocols } from '../model/fields/ports.js';

export type PortCheck = { readonly free: true } | { readonly free: false; readonly protocol: 'tcp' | 'udp' };

const NO_IPV6 = new Set(['EAFNOSUPPORT', 'EADDRNOTAVAIL', 'EPROTONOSUPPORT']);

/**
 * Binds TCP, UDP, or both, on all addresses, IPv6 and IPv4, and closes them before it resolves (about 1 ms). A listener on a
 * single address makes the port busy; connections in TIME_WAIT do not. Ports that the daemon may not bind (below 1024)
 * count as free. Throws the system's error when it gives no sockets.
 */
export async function checkPort(port: number, protocol: Protocols = 'both'): Promise<PortCheck> {
  const [tcp, udp] = await Promise.all([
    protocol === 'udp' || isFree(bindTcp, port),
    protocol === 'tcp' || isFree(bindUdp, port),
  ]);
  if (!tcp) return { free: false, protocol: 'tcp' };
  return udp ? { free: true } : { free: false, protocol: 'udp' };
}

type Bind = (port: number, family: 4 | 6) => Promise<void>;

async function isFree(bind: Bind, port: number): Promise<boolean> {
  const code = await codeOf(bind(port, 6));
  return meansFree(NO_IPV6.has(code) ? await codeOf(bind(port, 4)) : code);
}

function meansFree(code: string): boolean {
  if (code === 'EADDRINUSE') return false;
  if (code === '' || code === 'EACCES') return true;
  throw new Error(`the port could not be checked: the system answered ${code}`);
}

/** The system's code for a failed bind; an empty text for a bind that worked. */
function codeOf(bound: Promise<void>): Promise<string> {
  return bound.then(
    () => '',
    (error: NodeJS.ErrnoException) => error.code ?? error.message,
  );
}

/** Node sets SO_REUSEADDR on TCP, which ignores TIME_WAIT but, on Linux, no listener. */
function bindTcp(port: number, family: 4 | 6): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once('error', reject);
    server.listen({ port, host: family === 6 ? '::' : '0.0.0.0', exclusive: true }, () => {
      server.close(() => resolve());
    });
  });
}

function bindUdp(port: number, family: 4 | 6): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket({ type: family === 6 ? 'udp6' : 'udp4', reuseAddr: false });
    socket.once('error', (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ port, address: family === 6 ? '::' : '0.0.0.0', exclusive: true }, () => {
      socket.close(() => resolve());
    });
  });
}
