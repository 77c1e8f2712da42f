/** WebSockets of hostile or broken clients: each is closed, and the API answers the others meanwhile. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AcceptedSockets } from '../../support/api/accepted-sockets.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { closeCodeIn, frame } from '../../support/api/raw-frames.js';
import { openSocket } from '../../support/api/raw-http.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { metricsText } from '../../support/metrics-text.js';
import { until } from '../../support/until.js';

const KIB = 1024;
const MIB = KIB * KIB;
const HEAD_END = Buffer.from('\r\n\r\n');

let world: ApiWorld;
let accepted: AcceptedSockets;
const sockets: Socket[] = [];

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  accepted = new AcceptedSockets();
});
afterEach(async () => {
  await expectAnswers();
  accepted.stop();
  for (const socket of sockets.splice(0)) socket.destroy();
  await world.stop();
});

async function expectAnswers(): Promise<void> {
  expect((await fetch(`${world.url}/ping`)).status).toBe(200);
}

/** Opens a connection and upgrades it. It answers nothing by itself. */
async function rawSocket(): Promise<Socket> {
  const socket = openSocket(world.server.address?.port ?? 0);
  socket.on('error', () => {});
  sockets.push(socket);
  const lines = [
    'GET /api/console HTTP/1.1',
    'Host: x',
    `Authorization: Bearer ${world.admin}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
    'Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits',
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  expect(String(head)).not.toContain('permessage-deflate');
  expect(Buffer.from(head).indexOf(HEAD_END)).toBe(head.length - HEAD_END.length);
  return socket;
}

/** Sends these bytes and returns the code with which the server closes. */
async function codeAfter(...pieces: Buffer[]): Promise<number | undefined> {
  const socket = await rawSocket();
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  const closed = once(socket, 'close');
  socket.write(Buffer.concat(pieces));
  await until(() => expect(closeCodeIn(Buffer.concat(chunks))).toBeDefined());
  socket.destroy();
  await closed;
  return closeCodeIn(Buffer.concat(chunks));
}

const ran: string[] = [];
function record(): void {
  ran.length = 0;
  world.runCommand = async (line, { write }) => {
    ran.push(String(line));
    write(`ran ${line.length}\n`);
    return { isOk: true };
  };
}

describe('a message', () => {
  it('may have 64 KiB; one byte more closes with 1009, in one frame or in many', async () => {
    record();
    const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
    client.send('x'.repeat(64 * KIB));
    await until(() => expect(client.texts).toEqual([`ran ${64 * KIB}`]));
    client.send('x'.repeat(64 * KIB + 1));
    expect((await client.closed).code).toBe(1009);
    const half = frame('x'.repeat(40 * KIB), { isFinal: false });
    expect(await codeAfter(half, frame('x'.repeat(40 * KIB), { opcode: 0 }))).toBe(1009);
    expect(ran).toHaveLength(1);
  });

  it('that only says that it is huge is refused by its header', async () => {
    for (const length of [64 * KIB + 1, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER]) {
      expect([length, await codeAfter(frame('', { length }))]).toEqual([length, 1009]);
    }
    expect(await codeAfter(Buffer.from([0x81, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]))).toBe(
      1009,
    );
  });

  it('may come in fragments, but not in more than 128, empty ones included', async () => {
    record();
    const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
    for (let part = 0; part < 100; part++) client.websocket.send('x', { fin: part === 99 });
    await until(() => expect(client.texts).toEqual(['ran 100']));
    client.websocket.terminate();
    const begin = frame('x', { isFinal: false });
    const more = Array.from({ length: 200 }, () => frame('', { isFinal: false, opcode: 0 }));
    expect(await codeAfter(begin, ...more)).toBe(1008);
  });

  it('that breaks the protocol closes with the code for it', async () => {
    const broken: [Buffer, number][] = [
      [frame('unmasked', { isMasked: false }), 1002],
      [frame('compressed', { reserved: 0x40 }), 1002],
      [frame('x', { opcode: 3 }), 1002],
      [frame('nothing to continue', { opcode: 0 }), 1002],
      [frame('x'.repeat(126), { opcode: 9 }), 1002],
      [frame('x', { opcode: 9, isFinal: false }), 1002],
      [frame(Buffer.from([0xff, 0xfe])), 1007],
      [frame(Buffer.from([0x03, 0xec]), { opcode: 8 }), 1002],
      [frame(Buffer.from([1, 2, 3]), { opcode: 2 }), 1003],
      [Buffer.from('GET / HTTP/1.1\r\n\r\n'), 1002],
    ];
    for (const [bytes, code] of broken) expect([bytes, await codeAfter(bytes)]).toEqual([bytes, code]);
  });

  it('that never ends is closed once its pieces are too many', async () => {
    const socket = await rawSocket();
    socket.setNoDelay(true);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const end = accepted.of(socket);
    socket.write(frame('', { length: 60_000 }));
    // Byte by byte, each once the server has read the one before.
    for (let byte = 0; byte < 1100 && closeCodeIn(Buffer.concat(chunks)) === undefined; byte++) {
      const { bytesRead } = end;
      socket.write('x');
      while (end.bytesRead === bytesRead && closeCodeIn(Buffer.concat(chunks)) === undefined)
        await new Promise(setImmediate);
    }
    await until(() => expect(closeCodeIn(Buffer.concat(chunks))).toBe(1008));
  });
});

describe('a flood', () => {
  it('of messages is refused by the endpoint in its own bounds', async () => {
    record();
    const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
    for (let count = 0; count < 20_000; count++) client.send('x');
    await expectAnswers();
    client.send('the last one');
    await until(() => expect(client.texts.length).toBeGreaterThan(0));
    await client.close();
    expect(ran.length).toBeGreaterThan(0);
  });

  it('of pings from a client that does not read holds no memory', async () => {
    const socket = await rawSocket();
    socket.pause();
    const pings = Buffer.concat(Array.from({ length: 10_000 }, () => frame('x'.repeat(125), { opcode: 9 })));
    for (let round = 0; round < 40; round++) {
      if (!socket.write(pings)) await once(socket, 'drain');
    }
    await expectAnswers();
    // 52 MB of pings were sent and read.
    expect(accepted.of(socket).writableLength).toBeLessThan(128 * KIB);
  });

  it('of sockets ends at 64 for one key, and the API answers', async () => {
    const attempts = Array.from({ length: 300 }, () =>
      SocketClient.open(`${world.url}/console`, { token: world.admin }),
    );
    const results = await Promise.allSettled(attempts);
    const opened = results.filter((result) => result.status === 'fulfilled');
    const refusals = results.filter((result) => result.status === 'rejected');
    expect(opened).toHaveLength(64);
    for (const { reason } of refusals) expect(String(reason)).toContain('"status":429');
    await Promise.all(opened.map(({ value }) => value.close()));
  });
});

describe('a client that does not read', () => {
  it('is waited for: nothing more is made for it until it has read', async () => {
    const done: string[] = [];
    world.runCommand = async (line, { write }) => {
      done.push(String(line));
      if (line === 'much') for (let part = 0; part < 14; part++) write('x'.repeat(MIB));
      return { isOk: true };
    };
    const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
    client.websocket.pause();
    client.send('much');
    client.send('after');
    await until(() => expect(done).toEqual(['much']));
    await expectAnswers();
    expect(done).toEqual(['much']);
    client.websocket.resume();
    await until(() => expect(done).toEqual(['much', 'after']));
    await until(() => expect(client.texts).toHaveLength(15));
    await client.close();
  });

  it('is closed with 1013 when an endpoint makes more than 16 MiB for it', async () => {
    world.runCommand = async (_line, { write, signal }) => {
      for (let part = 0; part < 64 && !signal.aborted; part++) write('x'.repeat(MIB));
      return { isOk: true };
    };
    const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
    client.websocket.pause();
    client.send('endless');
    await until(async () => expect(await metric('drover_api_sockets')).toBe(1));
    client.websocket.resume();
    expect(await client.closed).toEqual({ code: 1013, reason: 'too slow: 16 MiB wait to be read' });
    expect(client.texts.length).toBeLessThan(40);
  });

  it('is closed at once when its key is deleted, and reads nothing more', async () => {
    world.runCommand = async (_line, { write }) => {
      for (let part = 0; part < 14; part++) write('x'.repeat(MIB));
      return { isOk: true };
    };
    const client = await SocketClient.open(`${world.url}/console`, { token: world.admin });
    client.websocket.pause();
    client.send('much');
    await expectAnswers();
    await world.removeKey('boss');
    await until(async () => expect(await metric('drover_api_sockets')).toBe(0));
    client.websocket.resume();
    expect((await client.closed).code).toBe(1006);
    expect(client.texts.length).toBeLessThan(14);
  });
});

async function metric(name: string): Promise<number> {
  const text = await metricsText(world.metrics);
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
}
