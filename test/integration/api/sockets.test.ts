/** WebSockets: who may open one and how, and what ends it. The endpoint is the console, with commands that echo. */
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateToken } from '../../../src/access/tokens.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { bodyOf, exchange, openSocket, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { SocketClient, type SocketOptions } from '../../support/api/socket-client.js';
import { until } from '../../support/until.js';

const KEY_PREFIX = 'base64url.bearer.authorization.drover.';
const PING_MS = 30_000;
const HANDSHAKE = [
  'Host: x',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

let world: ApiWorld;
const clients: SocketClient[] = [];

beforeEach(async () => {
  world = await new ApiWorld({ limits: { sockets: { perCaller: 3, total: 5 } } }).start();
  await world.server.start();
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.websocket.terminate();
  await world.stop();
});

const port = (): number => world.server.address?.port ?? 0;
const asProtocol = (token: string): string => KEY_PREFIX + Buffer.from(token).toString('base64url');
const url = (): string => `${world.url}/console`;

async function open(options: SocketOptions = { token: world.admin }): Promise<SocketClient> {
  const client = await SocketClient.open(url(), options);
  clients.push(client);
  return client;
}
const refused = (options: SocketOptions, to = url()) => SocketClient.refusal(to, options);
const raw = (lines: readonly string[], path = '/api/console', method = 'GET'): Promise<string> =>
  exchange(port(), `${[`${method} ${path} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`);

async function answers(client: SocketClient, text: string): Promise<void> {
  const before = client.texts.length;
  client.send(text);
  await until(() => expect(client.texts.slice(before)).toEqual([`would run: ${text}`]));
}

describe('a handshake', () => {
  it('with an ALL key in the header opens a socket of text frames', async () => {
    await answers(await open(), 'instance list');
  });

  it('with no key, a wrong key, a PUBLIC key or an instance key is answered 401 as JSON, and no socket opens', async () => {
    const weak = [
      undefined,
      generateToken(),
      await world.addKey('site', 'PUBLIC'),
      world.tokens.issue('aaaaaa', 1),
    ];
    for (const token of weak) {
      const { status, headers, body } = await refused(token === undefined ? {} : { token });
      expect([status, headers['www-authenticate'], JSON.parse(body)]).toEqual([
        401,
        'Bearer',
        refusal('Unauthorized'),
      ]);
    }
  });

  it('with a key in the query string is answered 401', async () => {
    for (const name of ['token', 'key', 'access_token', 'authorization']) {
      expect((await refused({}, `${url()}?${name}=${world.admin}`)).status).toBe(401);
    }
  });

  it('for what is no socket is answered 401 without a key, and with one like any other request', async () => {
    expect((await refused({}, `${world.url}/nothing`)).status).toBe(401);
    expect((await refused({ token: world.admin }, `${world.url}/nothing`)).status).toBe(404);
    expect((await refused({ token: world.admin }, `${world.url}/instances`)).status).toBe(200);
    expect((await refused({}, `${world.url}/ping`)).status).toBe(200);
  });

  it('that is wrong is answered 400 as JSON before any upgrade', async () => {
    const key = `Authorization: Bearer ${world.admin}`;
    const without = (name: string): string[] => [key, ...HANDSHAKE.filter((line) => !line.startsWith(name))];
    const wrong = [
      without('Sec-WebSocket-Version'),
      [...without('Sec-WebSocket-Version'), 'Sec-WebSocket-Version: 8'],
      without('Sec-WebSocket-Key'),
      [...without('Sec-WebSocket-Key'), 'Sec-WebSocket-Key: short'],
      [key, ...HANDSHAKE, 'Sec-WebSocket-Protocol: a b'],
      [key, ...HANDSHAKE, 'Sec-WebSocket-Protocol: a, a'],
      [key, ...HANDSHAKE, 'Sec-WebSocket-Protocol: a,,b'],
    ];
    for (const lines of wrong) {
      const answer = await raw(lines);
      expect([lines, statusOf(answer), bodyOf(answer)]).toEqual([
        lines,
        400,
        refusal(expect.stringContaining('Sec-WebSocket-')),
      ]);
    }
    expect(await raw(without('Sec-WebSocket-Version'))).toMatch(/sec-websocket-version: 13/i);
  });

  it('by another method, or with a body, is a plain request', async () => {
    const key = `Authorization: Bearer ${world.admin}`;
    const close = 'Connection: close, Upgrade';
    const lines = [key, ...HANDSHAKE.filter((line) => !line.startsWith('Connection')), close];
    expect(statusOf(await raw([...lines, 'Content-Length: 0'], '/api/console', 'POST'))).toBe(405);
    expect(statusOf(await raw([...lines, 'Content-Length: 3'], '/api/console', 'GET'))).toBe(426);
    expect(statusOf(await raw(lines, '/api/console', 'HEAD'))).toBe(426);
    expect(statusOf(await raw([...lines, 'Content-Length: 0'], '/api/node/reload', 'POST'))).toBe(501);
  });

  it('may come without its upgrade: 426 says what to do', async () => {
    const response = await world.call('GET', '/console');
    expect([response.status, response.headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(await response.json()).toEqual(refusal(expect.stringContaining('WebSocket')));
    expect((await fetch(url())).status).toBe(401);
  });

  it('from a page of another origin is no different: it had to know the key, which no browser adds by itself', async () => {
    const origin = { headers: { origin: 'https://elsewhere.example' } };
    await answers(await open({ token: world.admin, client: origin }), 'help');
    expect((await refused({ client: origin })).status).toBe(401);
    const cookie = { headers: { cookie: `authorization=Bearer ${world.admin}` } };
    expect((await refused({ client: cookie })).status).toBe(401);
  });
});

describe('a key as a subprotocol', () => {
  it('opens the socket; the other subprotocol is selected, the key never sent back', async () => {
    for (const protocols of [
      ['drover', asProtocol(world.admin)],
      [asProtocol(world.admin), 'drover', 'other'],
    ]) {
      const client = await open({ protocols });
      expect(client.websocket.protocol).toBe('drover');
      await answers(client, 'help');
      await client.close();
    }
    const head = await readHead([...HANDSHAKE, `Sec-WebSocket-Protocol: ${asProtocol(world.admin)}, drover`]);
    expect(head).toMatch(/^HTTP\/1\.1 101 [\s\S]*sec-websocket-protocol: drover\r\n/i);
    expect(head).not.toContain('base64url');
  });

  it('needs a second one to select: 400 says so, but only to who has a right key', async () => {
    const { status, body } = await refused({ protocols: [asProtocol(world.admin)] });
    expect([status, JSON.parse(body)]).toEqual([
      400,
      refusal(expect.stringContaining('one more subprotocol')),
    ]);
    expect(body).not.toContain(asProtocol(world.admin).slice(KEY_PREFIX.length));
    expect((await refused({ protocols: [asProtocol(generateToken())] })).status).toBe(401);
  });

  it('that is malformed, padded, of another service or wrong is answered 401', async () => {
    const encoded = Buffer.from(world.admin).toString('base64url');
    const wrong = [
      KEY_PREFIX + world.admin,
      `${KEY_PREFIX}${encoded}A`,
      KEY_PREFIX + encoded.slice(0, -1),
      KEY_PREFIX,
      `base64url.bearer.authorization.k8s.io.${encoded}`,
      `base64url.bearer.authorization.${encoded}`,
      `${KEY_PREFIX.toUpperCase()}${encoded}`,
      asProtocol(generateToken()),
      asProtocol(`Bearer ${world.admin}`),
    ];
    for (const protocol of wrong) {
      expect([protocol, (await refused({ protocols: ['drover', protocol] })).status]).toEqual([
        protocol,
        401,
      ]);
    }
  });

  it('beside another key is answered 401, in either place; the same one twice is one', async () => {
    const other = await world.addKey('other', 'ALL');
    const mine = asProtocol(world.admin);
    expect((await refused({ token: other, protocols: ['drover', mine] })).status).toBe(401);
    expect((await refused({ protocols: ['drover', mine, asProtocol(other)] })).status).toBe(401);
    const basic = { headers: { authorization: 'Basic YTpi' } };
    expect((await refused({ client: basic, protocols: ['drover', mine] })).status).toBe(401);
    await answers(await open({ token: world.admin, protocols: ['drover', mine] }), 'help');
  });

  it('counts on socket endpoints only', async () => {
    const headers = { 'sec-websocket-protocol': `drover, ${asProtocol(world.admin)}` };
    expect((await fetch(`${world.url}/instances`, { headers })).status).toBe(401);
  });

  it('is never in the log', async () => {
    await (await open({ protocols: ['drover', asProtocol(world.admin)] })).close();
    await refused({ protocols: ['drover', `${asProtocol(world.admin)}x`] });
    expect(JSON.stringify([world.log])).not.toContain(asProtocol(world.admin).slice(KEY_PREFIX.length));
  });
});

describe('a PUBLIC key', () => {
  it('counts each handshake towards its 100 calls', async () => {
    const token = await world.addKey('site', 'PUBLIC');
    for (let call = 0; call < 99; call++) await world.server.inject(ping(token));
    expect((await refused({ token })).status).toBe(401);
    const { status, headers, body } = await refused({ protocols: ['drover', asProtocol(token)] });
    expect([status, headers['retry-after'], JSON.parse(body)]).toEqual([
      429,
      '60',
      { ...refusal(expect.stringContaining('Rate limit exceeded')), retryAfterMs: 60_000 },
    ]);
  });
});

describe('the number of sockets', () => {
  it('is bounded for each key: one more is answered 429, and a closed one makes room', async () => {
    const first = await open();
    await open();
    await open();
    const { status, headers, body } = await refused({ token: world.admin });
    expect([status, headers['retry-after'], JSON.parse(body)]).toEqual([
      429,
      '1',
      { ...refusal(expect.stringContaining('key boss holds 3 sockets')), retryAfterMs: 1000 },
    ]);
    await first.close();
    await until(() => open());
  });

  it('is bounded in total, whatever the key', async () => {
    const other = await world.addKey('other', 'ALL');
    for (let index = 0; index < 3; index++) await open();
    for (let index = 0; index < 2; index++) await open({ token: other });
    const { status, body } = await refused({ token: other });
    expect([status, body]).toEqual([429, expect.stringContaining('there are 5 sockets')]);
  });

  it('is in the metrics', async () => {
    await open();
    const metrics = await (await fetch(`${world.url}/metrics`)).text();
    expect(metrics).toMatch(/^drover_api_sockets 1$/m);
  });
});

describe('a socket is closed', () => {
  it('at once when its key is deleted; those of other keys stay, and what it sends afterwards is not run', async () => {
    const other = await world.addKey('other', 'ALL');
    const [mine, theirs] = [await open(), await open({ token: other })];
    const ran: string[] = [];
    world.runCommand = async (line) => {
      ran.push(String(line));
      return { isOk: true };
    };
    await world.removeKey('boss');
    mine.send('stop');
    expect(await mine.closed).toEqual({ code: 1008, reason: 'the key was deleted' });
    theirs.send('help');
    await until(() => expect(theirs.texts).toEqual(['']));
    expect(ran).toEqual(['help']);
    expect((await refused({ token: world.admin })).status).toBe(401);
  });

  it('when its key is replaced by another of the same label', async () => {
    const client = await open();
    await world.addKey('boss', 'ALL');
    expect((await client.closed).code).toBe(1008);
  });

  it('with 1001 when the server stops', async () => {
    const clients = [await open(), await open()];
    const before = performance.now();
    await world.server.stop();
    for (const client of clients)
      expect(await client.closed).toEqual({ code: 1001, reason: 'the server stops' });
    expect(performance.now() - before).toBeLessThan(30_000);
  });

  it('by force when the server stops and the client does not answer', async () => {
    const socket = await rawSocket();
    socket.pause();
    // The client reads nothing while the server stops. A server that waited for its answer would not end.
    await world.server.stop();
    const closed = once(socket, 'close');
    socket.resume();
    await closed;
  });

  it('with 1003 for a binary frame, and nothing of it is run', async () => {
    const client = await open();
    client.websocket.send(Buffer.from('stop'));
    expect((await client.closed).code).toBe(1003);
    expect(client.texts).toEqual([]);
  });
});

describe('a peer', () => {
  it('is pinged every 30 s and kept while it answers', async () => {
    const client = await open();
    for (let round = 0; round < 3; round++) {
      const pinged = once(client.websocket, 'ping');
      await world.clock.advance(PING_MS);
      await pinged;
      await answers(client, `round ${round}`);
    }
  });

  it('that does not answer the ping is closed with the next one', async () => {
    const socket = await rawSocket();
    const closed = once(socket, 'close');
    const pinged = once(socket, 'data');
    await world.clock.advance(PING_MS);
    expect((await pinged)[0]).toEqual(Buffer.from([0x89, 0]));
    await world.clock.advance(PING_MS);
    await closed;
  });
});

const ping = (token: string) => ({
  method: 'GET' as const,
  url: '/api/ping',
  headers: { authorization: `Bearer ${token}` },
});

/** A socket that was upgraded by hand. It answers nothing by itself. */
async function rawSocket() {
  const socket = openSocket(port());
  const lines = ['GET /api/console HTTP/1.1', `Authorization: Bearer ${world.admin}`, ...HANDSHAKE];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  expect(String(head)).toMatch(/^HTTP\/1\.1 101 /);
  return socket;
}

async function readHead(lines: readonly string[]): Promise<string> {
  const socket = openSocket(port());
  socket.write(`${['GET /api/console HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`);
  const [head] = await once(socket, 'data');
  socket.destroy();
  return String(head);
}
