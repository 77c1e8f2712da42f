import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { checkPort } from '../../../src/runtime/ports.js';
import { until } from '../../support/until.js';

const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
  await Promise.all(
    sockets.splice(0).map((socket) => new Promise<void>((resolve) => socket.close(() => resolve()))),
  );
});

async function listenTcp(host: string): Promise<number> {
  const server = createServer();
  servers.push(server);
  server.listen(0, host);
  await once(server, 'listening');
  return portOf(server.address());
}

async function bindUdp(type: 'udp4' | 'udp6', address: string): Promise<number> {
  const socket = createSocket({ type, reuseAddr: true });
  sockets.push(socket);
  socket.bind(0, address);
  await once(socket, 'listening');
  return socket.address().port;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** A port that was the system's to give a moment ago. */
async function freePort(): Promise<number> {
  const port = await listenTcp('::');
  await new Promise((resolve) => servers.pop()?.close(resolve));
  return port;
}

describe('checkPort', () => {
  it('finds a free port free, again and again, since it lets go of it', async () => {
    const port = await freePort();
    for (let round = 0; round < 20; round++) expect(await checkPort(port)).toEqual({ free: true });
    const server = createServer();
    servers.push(server);
    server.listen(port, '::');
    await once(server, 'listening');
  });

  it.each(['0.0.0.0', '::', '127.0.0.1', '::1'])(
    'finds a port busy by a TCP listener on %s',
    async (host) => {
      expect(await checkPort(await listenTcp(host))).toEqual({ free: false, protocol: 'tcp' });
    },
  );

  it.each([
    ['udp4', '0.0.0.0'],
    ['udp4', '127.0.0.1'],
    ['udp6', '::'],
    ['udp6', '::1'],
  ] as const)('finds a port busy by a %s socket on %s', async (type, address) => {
    // Again with another port where a connection of another program happens to use the number for TCP.
    await until(async () =>
      expect(await checkPort(await bindUdp(type, address))).toEqual({ free: false, protocol: 'udp' }),
    );
  });

  it('looks at one protocol alone where only that one is asked for', async () => {
    const busy = await listenTcp('::');
    expect(await checkPort(busy, 'udp')).toEqual({ free: true });
    expect(await checkPort(busy, 'tcp')).toEqual({ free: false, protocol: 'tcp' });
    await until(async () => {
      const port = await bindUdp('udp6', '::');
      expect(await checkPort(port, 'tcp')).toEqual({ free: true });
      expect(await checkPort(port, 'udp')).toEqual({ free: false, protocol: 'udp' });
    });
  });

  it('does not mind old connections in TIME_WAIT', async () => {
    const port = await listenTcp('127.0.0.1');
    const server = servers.pop();
    // The side that closes first keeps the port in TIME_WAIT: ours.
    server?.once('connection', (socket) => socket.end());
    const client = connect(port, '127.0.0.1');
    client.resume();
    await once(client, 'close');
    await new Promise((resolve) => server?.close(resolve));
    expect(await checkPort(port)).toEqual({ free: true });
  });

  it('answers concurrent checks of different ports each for itself', async () => {
    await until(async () => {
      const busy = await listenTcp('127.0.0.1');
      const free = await freePort();
      const answers = await Promise.all([
        checkPort(busy),
        checkPort(free),
        checkPort(await bindUdp('udp4', '127.0.0.1')),
      ]);
      expect(answers).toEqual([
        { free: false, protocol: 'tcp' },
        { free: true },
        { free: false, protocol: 'udp' },
      ]);
    });
  });
});
