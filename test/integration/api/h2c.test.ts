/**
 * Clients that offer another protocol with plain requests, as Java's HTTP client does, get plain answers. This file
 * sends raw bytes; h2c-java.test.ts runs a real JDK.
 */

import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AcceptedSockets } from '../../support/api/accepted-sockets.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { openSocket } from '../../support/api/raw-http.js';
import { until } from '../../support/until.js';

/** The headers of an offer. */
const H2C = [
  'Connection: Upgrade, HTTP2-Settings',
  'Upgrade: h2c',
  'HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAAAAUAAEAA',
];

let world: ApiWorld;
let socket: Socket;
let received = '';
let accepted: AcceptedSockets;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
  received = '';
  accepted = new AcceptedSockets();
  socket = openSocket(world.server.address?.port ?? 0);
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  await once(socket, 'connect');
});
afterEach(async () => {
  socket.destroy();
  accepted.stop();
  await world.stop();
});

interface Raw {
  readonly method?: string;
  readonly path?: string;
  readonly offer?: readonly string[];
  readonly headers?: readonly string[];
  readonly body?: string;
}

function request({ method = 'GET', path = '/ping', offer = H2C, headers = [], body }: Raw = {}): string {
  const lines = [
    `${method} /api${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${world.admin}`,
    ...offer,
    ...headers,
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

const statuses = (): number[] => [...received.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, code]) => Number(code));
/** Looks whenever bytes come, and does not poll: some tests wait hundreds of times. */
async function untilAnswered(count: number): Promise<void> {
  while (statuses().length < count) await once(socket, 'data');
  expect(statuses()).toHaveLength(count);
}
async function expectStatuses(...expected: number[]): Promise<void> {
  await until(() => expect(statuses()).toEqual(expected));
}
const execute = (command: string): Raw => ({
  method: 'POST',
  path: '/instances/aaaaaa/execute',
  body: JSON.stringify({ command }),
});
const commands = (): string[] => world.stdin.map(({ bytes }) => bytes.toString());
const chunked = (text: string, size: number): string =>
  `${(text.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []).map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`;

describe('a request that offers h2c', () => {
  it('is answered as HTTP/1.1 by every method, with and without a body', async () => {
    const calls: [Raw, number][] = [
      [{}, 200],
      [{ method: 'HEAD' }, 200],
      [{ path: '/instances' }, 200],
      [execute('say hi'), 200],
      [{ method: 'PUT', path: '/configurations/x', body: '{"command":"y"}' }, 204],
      [{ method: 'PATCH', path: '/instances/aaaaaa/lifecycle?target=stop' }, 200],
      [{ method: 'POST', path: '/instances/aaaaaa/stop', body: '' }, 200],
      [{ method: 'DELETE', path: '/configurations/hello' }, 204],
      [{ method: 'OPTIONS', path: '/instances' }, 405],
    ];
    for (const [index, [call]] of calls.entries()) {
      socket.write(request(call));
      await untilAnswered(index + 1);
    }
    await expectStatuses(...calls.map(([, status]) => status));
    expect(commands()).toEqual(['say hi\n']);
    expect(received).not.toMatch(/101|upgrade/i);
  });

  it('may send its body in chunks', async () => {
    const { body = '', ...call } = execute('say chunks');
    socket.write(request({ ...call, headers: ['Transfer-Encoding: chunked'] }) + chunked(body, 5));
    await expectStatuses(200);
    socket.write(request({ ...call, headers: ['Transfer-Encoding: chunked'] }));
    for (const piece of chunked(body, 3).match(/[\s\S]{1,4}/g) ?? []) {
      socket.write(piece);
      await new Promise(setImmediate);
    }
    await expectStatuses(200, 200);
    expect(commands()).toEqual(['say chunks\n', 'say chunks\n']);
  });

  it('may ask with Expect before it sends its body', async () => {
    const { body = '', ...call } = execute('say expected');
    const headers = ['Expect: 100-continue', `Content-Length: ${body.length}`];
    socket.write(request({ ...call, headers }));
    await expectStatuses(100);
    socket.write(body);
    await expectStatuses(100, 200);
  });

  it('may be cut into pieces at any byte', async () => {
    const text = request(execute('say cut'));
    for (let cut = 1; cut < text.length; cut += 7) {
      socket.write(text.slice(0, cut));
      await new Promise(setImmediate);
      await new Promise(setImmediate);
      socket.write(text.slice(cut));
    }
    const rounds = Math.ceil((text.length - 1) / 7);
    await expectStatuses(...Array.from({ length: rounds }, () => 200));
    for (const byte of text) {
      socket.write(byte);
      await new Promise(setImmediate);
    }
    await until(() => expect(commands()).toHaveLength(rounds + 1));
    expect(new Set(commands())).toEqual(new Set(['say cut\n']));
  });

  it('may be pipelined, among others: every answer comes, in order', async () => {
    const mixed = [
      request(execute('1')),
      request({ ...execute('2'), offer: [] }),
      request({ path: '/nothing' }),
      request({ path: '/nothing', offer: [] }),
      request(execute('3')),
      request({ method: 'DELETE', path: '/configurations/hello' }),
      request({ offer: [] }),
      request({}),
    ];
    socket.write(mixed.join(''));
    await expectStatuses(200, 200, 404, 404, 200, 204, 200, 200);
    expect(commands()).toEqual(['1\n', '2\n', '3\n']);
  });

  it('waits for the answers before it on its connection', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    world.hold = () => held;
    const slow = { method: 'PATCH', path: '/instances/aaaaaa/lifecycle?target=stop', offer: [] };
    socket.write(request(slow) + request(slow) + request({}) + request(execute('after')));
    await new Promise(setImmediate);
    release();
    await expectStatuses(200, 200, 200, 200);
    expect(world.lifecycles).toHaveLength(2);
  });

  it('keeps its connection for hundreds of requests, and leaves nothing behind', async () => {
    for (let round = 0; round < 20; round++) {
      socket.write(request(execute('x')));
      await untilAnswered(round + 1);
    }
    const before = listenersOfAll();
    const warnings: Error[] = [];
    const onWarning = (warning: Error): void => {
      warnings.push(warning);
    };
    process.on('warning', onWarning);
    for (let round = 20; round < 320; round++) {
      socket.write(request(round % 2 === 0 ? {} : execute('x')));
      await untilAnswered(round + 1);
    }
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
    expect(listenersOfAll()).toEqual(before);
  });

  it('closes the connection when it says so', async () => {
    const closed = once(socket, 'close');
    const offer = ['Connection: close, Upgrade, HTTP2-Settings', ...H2C.slice(1)];
    socket.write(request({ offer }));
    await closed;
    expect(statuses()).toEqual([200]);
    expect(received).toMatch(/^connection: close/im);
  });

  it('needs a key like any other', async () => {
    socket.write(request({ path: '/instances' }).replace(/Authorization.*\r\n/, ''));
    await expectStatuses(401);
  });

  it('can be followed by a WebSocket on the same connection, also pipelined', async () => {
    const handshake = {
      path: '/console',
      offer: ['Connection: Upgrade', 'Upgrade: websocket'],
      headers: ['Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='],
    };
    socket.write(request({}));
    await expectStatuses(200);
    socket.write(request(execute('before')) + request(handshake));
    await expectStatuses(200, 200, 101);
    // A masked frame with a mask of zeroes.
    socket.write(Buffer.concat([Buffer.from([0x81, 0x84, 0, 0, 0, 0]), Buffer.from('help')]));
    await until(() => expect(received).toContain('would run: help'));
  });
});

describe('an offer', () => {
  it('of anything else is ignored too', async () => {
    const offers = [
      'h2',
      'TLS/1.0',
      'IRC/6.9, RTA/x11',
      'websocket',
      'WebSocket/13',
      'foo',
      'h2c, websocket',
    ];
    for (const [index, upgrade] of offers.entries()) {
      socket.write(request({ ...execute(upgrade), offer: ['Connection: upgrade', `Upgrade: ${upgrade}`] }));
      await untilAnswered(index + 1);
    }
    await expectStatuses(...offers.map(() => 200));
    expect(commands()).toEqual(offers.map((upgrade) => `${upgrade}\n`));
  });

  it('hides no request that is smuggled behind it', async () => {
    const inner = request({ ...execute('smuggled'), offer: [] });
    const forms = [
      ['Content-Length: 4', 'Transfer-Encoding: chunked'],
      ['Content-Length: 4', 'Content-Length: 5'],
      ['Transfer-Encoding: chunked, identity'],
    ];
    for (const headers of forms) {
      const attempt = openSocket(world.server.address?.port ?? 0);
      const chunks: Buffer[] = [];
      attempt.on('data', (chunk) => chunks.push(chunk));
      attempt.write(`${request({ method: 'POST', path: '/instances', headers })}0\r\n\r\n${inner}`);
      await once(attempt, 'close');
      expect([headers, String(Buffer.concat(chunks)).match(/HTTP\/1\.1 \d+/g)]).toEqual([
        headers,
        ['HTTP/1.1 400'],
      ]);
    }
    const body = inner;
    socket.write(request({ method: 'POST', path: '/instances', body }));
    await expectStatuses(400);
    expect(commands()).toEqual([]);
  });

  it('does not lift the limits: headers of 16 KiB, bodies of 1 MiB, time for a body', async () => {
    const slow = await new ApiWorld({ limits: { requestMs: 200 } }).start();
    await slow.server.start();
    try {
      const send = async (text: string): Promise<string> => {
        const one = openSocket(slow.server.address?.port ?? 0);
        const chunks: Buffer[] = [];
        one.on('data', (chunk) => chunks.push(chunk)).on('error', () => {});
        one.write(text);
        await once(one, 'close');
        return String(Buffer.concat(chunks)).slice(0, 12);
      };
      const key = [`Authorization: Bearer ${slow.admin}`, 'Connection: close, Upgrade', ...H2C.slice(1)];
      const post = (more: string): string =>
        ['POST /api/instances HTTP/1.1', 'Host: x', ...key, more, '', ''].join('\r\n');
      expect(await send(post(`X: ${'x'.repeat(17_000)}`))).toBe('HTTP/1.1 431');
      expect(await send(`${post('Content-Length: 1048577')}{`)).toBe('HTTP/1.1 413');
      expect(await send(`${post('Content-Length: 9')}{`)).toBe('HTTP/1.1 408');
    } finally {
      await slow.stop();
    }
  });

  it('whose client goes away at once does no harm', async () => {
    for (let index = 0; index < 50; index++) {
      const leaving = openSocket(world.server.address?.port ?? 0);
      await once(leaving, 'connect');
      leaving.write(request(execute('x')));
      if (index % 2 === 0) leaving.resetAndDestroy();
      else leaving.destroy();
    }
    socket.write(request({}));
    await expectStatuses(200);
  });
});

/** The number of listeners for each event of the server's end of `socket`. */
function listenersOfAll(): Record<string, number> {
  const end = accepted.of(socket);
  return Object.fromEntries(end.eventNames().map((name) => [String(name), end.listenerCount(name)]));
}

describe('a server that stops', () => {
  it('is not held up by a connection that waits for an answer before its offer', async () => {
    const held = new Promise<void>(() => {});
    world.hold = () => held;
    const slow = { method: 'PATCH', path: '/instances/aaaaaa/lifecycle?target=stop', offer: [] };
    socket.write(request(slow) + request({}));
    await until(() => expect(accepted.of(socket).bytesRead).toBeGreaterThan(0));
    const closed = once(socket, 'close');
    await world.server.stop();
    await closed;
  });

  it('answers the offers that came in time', async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let isRunning = false;
    world.hold = () => {
      isRunning = true;
      return held;
    };
    socket.write(request({ method: 'PATCH', path: '/instances/aaaaaa/lifecycle?target=stop' }));
    await until(() => expect(isRunning).toBe(true));
    const stopped = world.server.stop();
    release();
    await expectStatuses(200);
    await stopped;
  });
});
