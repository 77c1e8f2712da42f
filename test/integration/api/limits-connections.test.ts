/** Clients that hold connections without a key: each address has a share, and the oldest connection gives way. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiCertificate } from '../../../src/channel/trust/api-certificate.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { clusterCertificate } from '../../support/api/tls.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const LIMIT = 40;
const SHARE = LIMIT / 4;

let world: ApiWorld;
let certificate: ApiCertificate | undefined;
const opened: Socket[] = [];

async function begin(hasTls: boolean): Promise<void> {
  certificate = hasTls ? await clusterCertificate(new FakeClock()) : undefined;
  const limits = { connections: LIMIT };
  world = await new ApiWorld({ limits, ...(certificate !== undefined && { certificate }) }).start();
  world.answers.stop();
  await world.server.start();
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
}

afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await world.stop();
});

/** Connects from an address of this machine. The connection is accepted, or closed, when the promise resolves. */
async function open(localAddress: string): Promise<Socket> {
  const to = { port: world.server.address?.port ?? 0, host: '127.0.0.1', localAddress };
  const ca = certificate?.authority ?? undefined;
  const socket = ca === undefined ? connect(to) : connectTls({ ...to, ca });
  socket.on('error', () => {});
  opened.push(socket);
  await Promise.race([once(socket, ca === undefined ? 'connect' : 'secureConnect'), once(socket, 'close')]);
  socket.resume();
  return socket;
}

async function openMany(localAddress: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let made = 0; made < count; made++) sockets.push(await open(localAddress));
  return sockets;
}

/** Sends a request and resolves with the status of its answer; 0: the connection was closed without one. */
async function ask(socket: Socket, path: string, token?: string, body?: string): Promise<number> {
  const lines = [`${body === undefined ? 'GET' : 'PUT'} /api${path} HTTP/1.1`, 'Host: x'];
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  if (body !== undefined) lines.push(`Content-Length: ${body.length}`);
  const answer = Promise.race([once(socket, 'data'), once(socket, 'close').then(() => [''])]);
  socket.write(`${lines.join('\r\n')}\r\n\r\n${body ?? ''}`);
  const [data] = await answer;
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(data))?.[1] ?? 0);
}

/** Opens connections that show an API key before the next one is opened. */
async function openKnown(localAddress: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let made = 0; made < count; made++) {
    const socket = await open(localAddress);
    expect(await ask(socket, '/instances', world.admin)).toBe(200);
    sockets.push(socket);
  }
  return sockets;
}

const askFrom = async (localAddress: string, token?: string): Promise<number> =>
  ask(await open(localAddress), token === undefined ? '/ping' : '/instances', token);
const openOf = (sockets: readonly Socket[]): number => sockets.filter(({ closed }) => !closed).length;
const bodyOf = (state: string): string => JSON.stringify({ state });

describe.each([
  ['without TLS', false],
  ['over TLS', true],
])('%s', (_how, hasTls) => {
  beforeEach(() => begin(hasTls));

  describe('connections that never authenticated', () => {
    it('of one address beyond its share close, the oldest first, and no other address notices', async () => {
      const other = await open('127.0.0.2');
      const held = await openMany('127.0.0.1', LIMIT + 5);
      await until(() => expect(openOf(held)).toBe(SHARE));
      expect(held.slice(-SHARE).every(({ closed }) => !closed)).toBe(true);
      expect(await ask(other, '/ping')).toBe(200);
      expect(await askFrom('127.0.0.3')).toBe(200);
      expect(await askFrom('127.0.0.1', world.admin)).toBe(200);
      expect(world.log).toContainEqual(
        expect.objectContaining({ level: 40, msg: expect.stringContaining('address 127.0.0.1') }),
      );
    });

    it('of many addresses give way to new ones at the limit of all', async () => {
      const held: Socket[] = [];
      for (let host = 1; host <= 5; host++) held.push(...(await openMany(`127.0.1.${host}`, SHARE)));
      await until(() => expect(openOf(held)).toBe(LIMIT));
      expect(held.slice(0, SHARE).every(({ closed }) => closed)).toBe(true);
      expect(await askFrom('127.0.0.1', world.admin)).toBe(200);
    });
  });

  describe('connections that have shown an API key', () => {
    it('stay while strangers of the same address come and go', async () => {
      const known = await openKnown('127.0.0.1', SHARE + 2);
      const strangers = await openMany('127.0.0.1', LIMIT);
      await until(() => expect(openOf(strangers)).toBe(SHARE));
      for (const socket of known) expect(await ask(socket, '/instances', world.admin)).toBe(200);
    });

    it('are the only ones that can use up the limit: then a new one is closed, and the log says so', async () => {
      const known = await openKnown('127.0.0.1', LIMIT - 1);
      const last = await open('127.0.0.2');
      const beyond = await open('127.0.0.3');
      await until(() => expect(last.closed).toBe(true));
      expect(await ask(beyond, '/ping')).toBe(200);
      expect(openOf(known)).toBe(LIMIT - 1);
      expect(world.log).toContainEqual(
        expect.objectContaining({
          level: 40,
          msg: expect.stringContaining(`the API has ${LIMIT} connections`),
        }),
      );
    });

    it('leave their places when they close', async () => {
      for (let round = 0; round < 2 * LIMIT; round++) {
        const socket = await open('127.0.0.1');
        expect(await ask(socket, '/instances', world.admin)).toBe(200);
        socket.destroy();
      }
      expect(await askFrom('127.0.0.1')).toBe(200);
      expect(world.log.filter(({ level }) => Number(level) >= 40)).toEqual([]);
    });
  });

  describe("connections with an instance's own token", () => {
    it('count against the share of their address, and the one that reported last stays longest', async () => {
      const token = world.tokens.issue('aaaaaa', instanceRecord({ id: 'aaaaaa' }).createdAt);
      const [reporting] = await openMany('127.0.0.1', 1);
      const held = await openMany('127.0.0.1', SHARE - 1);
      if (reporting === undefined) throw new Error('no connection');
      expect(await ask(reporting, '/instances/aaaaaa/state', token, bodyOf('ONLINE'))).toBe(200);
      const more = await openMany('127.0.0.1', SHARE - 1);
      await until(() => expect(openOf(held)).toBe(0));
      expect([reporting.closed, openOf(more)]).toEqual([false, SHARE - 1]);
      await open('127.0.0.1');
      await until(() => expect(reporting.closed).toBe(true));
    });
  });
});
