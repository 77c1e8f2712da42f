/** Which processes listen on a port, seen from outside: real sockets of this process and of children. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { findListener, holderOfPort, parseSockets } from '../../../src/runtime/listening.js';

const servers: Server[] = [];
const sockets: Socket[] = [];
const children: ChildProcess[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  await Promise.all(sockets.splice(0).map((socket) => new Promise<void>((resolve) => socket.close(resolve))));
  for (const child of children.splice(0)) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
});

async function tcpAt(host: string): Promise<number> {
  const server = createServer();
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function udpAt(host: string): Promise<number> {
  const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4');
  sockets.push(socket);
  socket.bind(0, host);
  await once(socket, 'listening');
  return socket.address().port;
}

async function otherProcess(): Promise<number> {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6); console.log("up")']);
  children.push(child);
  await once(child.stdout, 'data');
  return child.pid ?? 0;
}

describe('a look at the port of a run', () => {
  it.each(['127.0.0.1', '127.0.0.2', '0.0.0.0', '::1', '::'])('finds listeners on %s', async (host) => {
    expect(await findListener([process.pid], await tcpAt(host), false)).toBe('listening');
    expect(await findListener([process.pid], await udpAt(host), false)).toBe('listening');
  });

  it('names the ports on which the run listens instead', async () => {
    const port = await tcpAt('127.0.0.1');
    const free = await tcpAt('127.0.0.1');
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await findListener([process.pid], free, false)).toEqual({
      elsewhere: expect.arrayContaining([`tcp ${port}`]),
    });
  });

  it('takes no other process for the run, and no ended process for an answer', async () => {
    const port = await tcpAt('127.0.0.1');
    const pid = await otherProcess();
    expect(await findListener([pid], port, false)).toEqual({ elsewhere: [] });
    expect(await findListener([pid, process.pid], port, false)).toBe('listening');
    expect(await findListener([pid], port, true)).toBe('listening');
    children[0]?.kill('SIGKILL');
    await once(children.pop() as ChildProcess, 'exit');
    expect(await findListener([pid], port, false)).toBe('unknown');
  });

  it('reads listening and unconnected sockets alone', () => {
    const head =
      '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode';
    const row = (port: string, state: string, inode: number): string =>
      `   0: 0100007F:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000  1000        0 ${inode} 1 0000 100`;
    const table = [head, row('7530', '0A', 11), row('7531', '01', 12), ''].join('\n');
    expect(parseSockets(table, 'tcp', '0A')).toEqual([{ protocol: 'tcp', port: 30_000, inode: '11' }]);
  });
});

describe('the holder of a port', () => {
  it('is named with its pid', async () => {
    const holder = await holderOfPort(await tcpAt('::'), 'tcp');
    expect(holder).toMatch(new RegExp(`^\\S.*, pid ${process.pid}$`));
    expect(await holderOfPort(await udpAt('127.0.0.1'), 'udp')).toBe(holder);
  });

  it('is unknown for a port that nobody holds', async () => {
    const port = await tcpAt('127.0.0.1');
    await new Promise((resolve) => servers.pop()?.close(resolve));
    expect(await holderOfPort(port, 'tcp')).toBeUndefined();
  });
});
