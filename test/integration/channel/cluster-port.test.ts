/** The cluster port answers HTTP with a hint, hands TLS on, closes on everything else, and holds no stranger for long. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ClusterPort, wrongDoor } from '../../../src/channel/master/cluster-port.js';
import { exchange, openSocket } from '../../support/api/raw-http.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

const API = { address: '10.0.0.7', port: 7000, hasTls: false };
let cluster: ClusterPort;
/** What was handed on. */
let handedOn: Socket[];
let clock: FakeClock;

beforeEach(async () => {
  handedOn = [];
  clock = new FakeClock();
  cluster = new ClusterPort({
    host: '127.0.0.1',
    port: 0,
    api: API,
    onTls: (socket) => handedOn.push(socket),
    clock,
  });
  await cluster.start();
});
afterEach(() => cluster.stop());

const port = (): number => cluster.port ?? 0;

/** Connected, and seen by the port. */
async function openMany(count: number): Promise<Socket[]> {
  const open = Array.from({ length: count }, () => openSocket(port()));
  await Promise.all(open.map((socket) => once(socket, 'connect')));
  return open;
}

describe('the cluster port', () => {
  it('names the API by https where that has TLS', () => {
    expect(wrongDoor({ ...API, hasTls: true })).toContain('The API is at https://10.0.0.7:7000/api');
  });

  it('tells an HTTP client where the API is', async () => {
    const response = await fetch(`http://127.0.0.1:${port()}/api/ping`);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      400,
      'text/plain; charset=utf-8',
    ]);
    expect(await response.text()).toContain(
      `cluster port of Drover: only nodes talk here. The API is at http://10.0.0.7:7000/api`,
    );
    const posted = await fetch(`http://127.0.0.1:${port()}/`, { method: 'POST', body: 'x'.repeat(300_000) });
    expect(posted.status).toBe(400);
    for (const text of [
      'HEAD / HTTP/1.1\r\n\r\n',
      'OPTIONS * HTTP/1.0\r\n',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    ]) {
      expect(await exchange(port(), text)).toMatch(/^HTTP\/1\.1 400 /);
    }
  });

  it('understands a request that comes byte by byte', async () => {
    const socket = openSocket(port());
    const answer = once(socket, 'data');
    for (const byte of 'GET / HTTP/1.1\r\n\r\n') {
      socket.write(byte);
      await new Promise(setImmediate);
    }
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('closes on random bytes without a word', async () => {
    const hellos = ['\x00\x01\x02\x03\x04\x05\x06\x07\x08', '{"hello":1}', '\r\n\r\n'];
    for (const bytes of hellos) expect([bytes, await exchange(port(), bytes)]).toEqual([bytes, '']);
  });

  it('hands a connection that begins with TLS on, with its first byte', async () => {
    const socket = openSocket(port());
    socket.write('\x16\x03\x01rest', 'latin1');
    const handed = await until(() => handedOn[0] ?? expect.fail('nothing was handed on'));
    handed.resume();
    const [first] = await once(handed, 'data');
    expect(first.toString('latin1')).toBe('\x16\x03\x01rest');
    socket.destroy();
  });

  it('holds 512 strangers of one address at most, and counts nobody who was let in', async () => {
    const open = await openMany(512);
    const late = openSocket(port());
    late.on('error', () => {});
    await once(late, 'close');
    const [node] = open;
    node?.write('\x16', 'latin1');
    cluster.letIn(await until(() => handedOn[0] ?? expect.fail('nothing was handed on')));
    const next = openSocket(port());
    await once(next, 'connect');
    next.write('GET / HTTP/1.1\r\n\r\n');
    expect(String((await once(next, 'data'))[0])).toMatch(/^HTTP\/1\.1 400 /);
    const closed = Promise.all(open.map((socket) => once(socket, 'close')));
    await cluster.stop();
    await closed;
  });

  it('gives the place of the oldest of the greediest address to a newcomer', async () => {
    const from = async (localAddress: string, count: number): Promise<Socket[]> => {
      const open = Array.from({ length: count }, () =>
        connect({ port: port(), host: '127.0.0.1', localAddress }),
      );
      for (const socket of open) socket.on('error', () => {});
      await Promise.all(open.map((socket) => once(socket, 'connect')));
      return open;
    };
    const greedy = await from('127.0.0.2', 512);
    const less = await from('127.0.0.3', 511);
    const [first] = await from('127.0.0.4', 1);
    const [oldest, next] = greedy;
    const closed = once(oldest ?? expect.fail(), 'close');
    const [node] = await from('127.0.0.5', 1);
    await closed;
    node?.write('\x16', 'latin1');
    await until(() => expect(handedOn).toHaveLength(1));
    expect([next, first, ...less].filter((socket) => socket?.destroyed === true)).toEqual([]);
  });

  it('closes connections of an address at once when many came to nothing, and those of no other', async () => {
    /** How many of so many requests are answered. */
    const answered = async (localAddress: string, count: number): Promise<number> => {
      let answers = 0;
      const ends = Array.from({ length: count }, () => {
        const socket = connect({ port: port(), host: '127.0.0.1', localAddress });
        socket.on('error', () => {}).once('data', () => answers++);
        socket.write('GET / HTTP/1.1\r\n\r\n');
        return new Promise((resolve) => socket.on('close', resolve));
      });
      await Promise.all(ends);
      return answers;
    };
    expect(await answered('127.0.0.2', 512)).toBe(512);
    // The port sees an end a little later than its peer.
    await until(async () => expect(await answered('127.0.0.2', 1)).toBe(0));
    expect(await answered('127.0.0.3', 20)).toBe(20);
    await clock.advance(200);
    expect(await answered('127.0.0.2', 1)).toBe(1);
  });

  it('counts no connection that was excused or let in', async () => {
    const leave = async (act: (socket: Socket) => void): Promise<void> => {
      handedOn = [];
      const open = await openMany(300);
      for (const socket of open) socket.write('\x16', 'latin1');
      await until(() => expect(handedOn).toHaveLength(300));
      for (const socket of handedOn) act(socket);
      for (const socket of open) socket.destroy();
      await Promise.all(
        handedOn.map((socket) => (socket.closed ? undefined : once(socket.resume(), 'close'))),
      );
    };
    for (let times = 0; times < 2; times++) {
      await leave((socket) => cluster.excuse(socket));
      await leave((socket) => cluster.letIn(socket));
    }
    expect(await exchange(port(), 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('says which port is in use and what to set', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const address = holder.address();
    const taken = address !== null && typeof address === 'object' ? address.port : 0;
    const second = new ClusterPort({ host: '127.0.0.1', port: taken, api: API, onTls: () => undefined });
    await expect(second.start()).rejects.toMatchObject({
      code: 'DRV_NODE_PORT_IN_USE',
      message: `the cluster port cannot listen: port ${taken} on 127.0.0.1 is in use; stop what holds it or set another port in config.json`,
    });
    await second.stop();
    holder.close();
  });
});
