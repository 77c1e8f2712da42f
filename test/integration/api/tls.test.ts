/** The API over TLS, with real handshakes: who gets in, what plain HTTP hears on the same port, and what is bounded. */
import { once } from 'node:events';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ApiCertificate } from '../../../src/channel/trust/api-certificate.js';
import { ApiWorld } from '../../support/api/api-world.js';
import { bodyOf, exchange, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { askTls, clusterCertificate, OperatorAuthority } from '../../support/api/tls.js';
import { FakeClock } from '../../support/fake-clock.js';
import { until } from '../../support/until.js';

let certificate: ApiCertificate;
let world: ApiWorld;
const opened: Socket[] = [];

const port = (): number => world.server.address?.port ?? 0;
const ca = (): string => certificate.authority ?? '';

async function begin(limits: ConstructorParameters<typeof ApiWorld>[0] = {}): Promise<void> {
  world = await new ApiWorld({ certificate, ...limits }).start();
  await world.server.start();
}

beforeEach(async () => {
  certificate = await clusterCertificate(new FakeClock());
});
afterEach(async () => {
  for (const socket of opened.splice(0)) socket.destroy();
  await world.stop();
});

/** Resolves when the handshake is over; rejects with its error. */
async function shake(options: object): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port: port(), ca: ca(), ...options });
  opened.push(socket);
  await once(socket, 'secureConnect');
  return socket;
}

describe('the handshake', () => {
  beforeEach(() => begin());

  it.each(['TLSv1.2', 'TLSv1.3'] as const)('takes %s and HTTP/1.1', async (version) => {
    const versions = { minVersion: version, maxVersion: version };
    const socket = await shake({ ...versions, ALPNProtocols: ['h2', 'http/1.1'] });
    expect([socket.getProtocol(), socket.alpnProtocol]).toEqual([version, 'http/1.1']);
    expect(await askTls({ port: port(), ca: ca(), path: '/api/ping', ...versions })).toMatchObject({
      status: 200,
    });
  });

  it.each([
    [
      'TLS 1.1',
      { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
      /protocol.version/i,
    ],
    ['a client that speaks HTTP/2 only', { ALPNProtocols: ['h2'] }, /no.application.protocol/i],
    ['a name that it is not for', { servername: 'other.example' }, /altnames.*other\.example/],
    ['a client that does not know the authority', { ca: [] }, /certificate/],
  ])('refuses %s', async (_what, options, error) => {
    await expect(shake(options)).rejects.toThrow(error);
    expect(await askTls({ port: port(), ca: ca(), path: '/api/ping' })).toMatchObject({ status: 200 });
  });

  it.each(['localhost', 'master', ''])('needs no name, and takes its own: "%s"', async (servername) => {
    const socket = await shake({ servername });
    expect(socket.authorized).toBe(true);
  });

  it('shows the authority behind its certificate, so that a person can compare its fingerprint', async () => {
    const socket = await shake({});
    const issuer = socket.getPeerX509Certificate()?.issuerCertificate;
    expect(issuer?.fingerprint256).toBe(certificate.describe(Date.now()).fingerprint);
  });
});

describe('requests over TLS', () => {
  beforeEach(() => begin());

  it('are those of the API, with keys, bodies and several on a connection', async () => {
    expect(await askTls({ port: port(), ca: ca(), path: '/api/instances' })).toMatchObject({ status: 401 });
    const body = JSON.stringify({ command: 'cluster status' });
    const to = { port: port(), ca: ca(), token: world.admin };
    expect(await askTls({ ...to, method: 'POST', path: '/api/commands/execute' }, body)).toMatchObject({
      status: 200,
      text: expect.stringContaining('would run: cluster status'),
    });
    const socket = await shake({});
    const ping = 'GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n';
    let answers = '';
    socket.on('data', (data: Buffer) => {
      answers += data.toString();
    });
    socket.write(ping + ping);
    await until(() => expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(2));
  });

  it('that only offer an upgrade are answered like any other', async () => {
    const socket = await shake({});
    const chunks: Buffer[] = [];
    socket.on('data', (data: Buffer) => chunks.push(data));
    const head = 'GET /api/ping HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n';
    socket.write(head);
    await once(socket, 'close');
    expect(statusOf(Buffer.concat(chunks).toString())).toBe(200);
  });

  it('may become WebSockets, which are counted, pinged and closed as without it', async () => {
    const url = `https://127.0.0.1:${port()}/api/console`;
    const client = await SocketClient.open(url, { token: world.admin, client: { ca: ca() } });
    client.send('cluster status');
    await until(() => expect(client.texts).toEqual(['would run: cluster status']));
    await world.removeKey('boss');
    expect(await client.closed).toMatchObject({ code: 1008, reason: 'the key was deleted' });
    expect(await SocketClient.refusal(url, { client: { ca: ca() } })).toMatchObject({ status: 401 });
  });

  it('are not in the way of a stop, nor are connections without a handshake', async () => {
    const idle = connectPlain({ port: port(), host: '127.0.0.1' });
    opened.push(idle);
    await once(idle, 'connect');
    const used = await shake({});
    used.write('GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(used, 'data');
    await world.server.stop();
    await until(() => expect(opened.every(({ closed }) => closed)).toBe(true));
  });
});

describe('a WebSocket over TLS', () => {
  it('of a client that shows no life is closed, and one that answers pings stays', async () => {
    await begin({ limits: { sockets: { pingMs: 1000 } } });
    const url = `https://127.0.0.1:${port()}/api/console`;
    const options = { token: world.admin, client: { ca: ca() } };
    const [alive, dead] = [await SocketClient.open(url, options), await SocketClient.open(url, options)];
    dead.connection.pause();
    for (let beats = 0; beats < 5; beats++) {
      const pinged = once(alive.websocket, 'ping');
      await world.clock.advance(1000);
      await pinged;
      // The server has read the answer.
      alive.send('x');
      await until(() => expect(alive.texts).toHaveLength(beats + 1));
    }
    dead.connection.resume();
    expect(await dead.closed).toMatchObject({ code: 1006 });
    expect(alive.websocket.readyState).toBe(1);
    alive.websocket.terminate();
  });
});

describe('plain HTTP on the port with TLS', () => {
  beforeEach(async () => {
    await begin();
    world.answers.stop();
  });

  const BROWSER = 'Accept: text/html,application/xhtml+xml';
  const get = (headers: readonly string[], path = '/docs'): Promise<string> =>
    exchange(port(), [`GET ${path} HTTP/1.1`, ...headers, '', ''].join('\r\n'));
  const locationOf = (answer: string): string | undefined => /^location: (.*)\r$/im.exec(answer)?.[1];

  it('is answered with what to do, in JSON, for programs', async () => {
    for (const head of ['GET /api/ping', 'POST /api/instances', 'OPTIONS *', 'DELETE /api/x']) {
      const answer = await exchange(
        port(),
        `${head} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0\r\n\r\n`,
      );
      expect([statusOf(answer), bodyOf(answer)]).toEqual([
        400,
        refusal('this port speaks HTTPS: use https:// in the place of http://'),
      ]);
    }
  });

  it.each([
    ['127.0.0.1:7000', '/docs', 'https://127.0.0.1:7000/docs'],
    ['api.example', '/docs?x=1&y=%0d%0a', 'https://api.example/docs?x=1&y=%0d%0a'],
    ['[fd00::1]:7000', '/', 'https://[fd00::1]:7000/'],
  ])('sends a browser on: %s%s', async (host, path, location) => {
    const answer = await get([`Host: ${host}`, BROWSER], path);
    expect([statusOf(answer), locationOf(answer)]).toEqual([307, location]);
    expect(answer).toMatch(/^cache-control: no-store\r$/im);
  });

  it.each([
    ['a host that is none', ['Host: a b', BROWSER], '/'],
    ['a host with a user', ['Host: good@evil.example', BROWSER], '/'],
    ['a host with a path', ['Host: evil.example/x?', BROWSER], '/'],
    ['a host with a quote', ['Host: "><script>', BROWSER], '/'],
    ['a host beyond ASCII', ['Host: \xe9vil', BROWSER], '/'],
    ['no host', ['Host:', BROWSER], '/'],
    ['two slashes', ['Host: x', BROWSER], '//evil.example/'],
    ['a backslash', ['Host: x', BROWSER], '/\\evil.example/'],
    ['a whole URL', ['Host: x', BROWSER], 'http://evil.example/'],
    ['an upgrade', ['Host: x', BROWSER, 'Connection: Upgrade', 'Upgrade: websocket'], '/'],
  ])('sends nobody on because of %s', async (_what, headers, path) => {
    const answer = await get(headers, path);
    expect([statusOf(answer), locationOf(answer)]).toEqual([400, undefined]);
    expect(answer).not.toContain('evil');
  });

  it('never sends a client on that shows a key, says that others may have read it, and logs it', async () => {
    const shown = [
      [`Authorization: Bearer ${world.admin}`],
      [`Sec-WebSocket-Protocol: base64url.bearer.authorization.drover.x`, 'Upgrade: websocket'],
    ];
    for (const headers of shown) {
      const answer = await get(['Host: x', BROWSER, ...headers]);
      expect([statusOf(answer), locationOf(answer)]).toEqual([400, undefined]);
      expect(bodyOf(answer)).toEqual({
        error: expect.stringMatching(/HTTPS.*key in clear.*replace the key/),
        code: 'DRV_TLS_REQUIRED',
      });
    }
    const lines = world.log.filter(({ msg }) => String(msg).includes('sent a key in clear'));
    expect(lines).toEqual([expect.objectContaining({ address: '127.0.0.1', level: 40 })]);
    expect(JSON.stringify(world.log)).not.toContain(world.admin);
  });

  it('is not asked for its body, and one that is sent is read, so that the answer arrives', async () => {
    const head = 'PUT /api/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
    const waiting = await exchange(port(), `${head}Expect: 100-continue\r\nContent-Length: 9\r\n\r\n`);
    expect(statusOf(waiting)).toBe(400);
    const body = 'x'.repeat(1024 * 1024);
    expect(statusOf(await exchange(port(), `${head}Content-Length: ${body.length}\r\n\r\n${body}`))).toBe(
      400,
    );
  });

  it('comes in pieces, or is no HTTP, and is answered all the same', async () => {
    const socket = connectPlain({ port: port(), host: '127.0.0.1' });
    opened.push(socket);
    const data = once(socket, 'data');
    for (const piece of ['G', 'ET / HT', 'TP/1.1\r\nHost: x\r\n', '\r\n']) {
      socket.write(piece);
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(statusOf(String(await data))).toBe(400);
    expect(statusOf(await exchange(port(), 'SSH-2.0-OpenSSH_9.6\r\n\r\n'))).toBe(400);
  });
});

describe('TLS on a port without it', () => {
  it('is answered with a line, and the log says what to set', async () => {
    world = await new ApiWorld().start();
    await world.server.start();
    await expect(shake({ ca: [] })).rejects.toThrow(/wrong version number|packet length/);
    const socket = connectPlain({ port: port(), host: '127.0.0.1' });
    opened.push(socket);
    socket.write(Buffer.from('16030100050100000103', 'hex'));
    const [answer] = await once(socket, 'data');
    expect(bodyOf(String(answer))).toEqual({
      error: 'this port speaks HTTP without TLS: use http://, or set apiTls',
      code: 'DRV_REQUEST_INVALID',
    });
    expect(world.log.filter(({ msg }) => String(msg).includes('speaks TLS'))).toHaveLength(1);
    const garbage = await exchange(port(), 'x\r\n\r\n');
    expect(bodyOf(garbage)).toEqual(refusal('this is not a well-formed HTTP request'));
  });
});

describe('handshakes that do not end', () => {
  const HELLO = Buffer.from('1603010200010001fc0303', 'hex');

  it('are closed when their time is over, as are those that do not begin and plain requests', async () => {
    await begin({ limits: { headersMs: 300 } });
    // One whose handshake was in time may rest between its requests.
    const used = await shake({});
    used.write('GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(used, 'data');
    const late = [Buffer.alloc(0), HELLO, Buffer.from('GET / HTTP/1.1\r\n')].map((start) => {
      const socket = connectPlain({ port: port(), host: '127.0.0.1' });
      socket.on('error', () => {});
      opened.push(socket);
      socket.write(start);
      return socket;
    });
    await until(() => expect(late.map(({ closed }) => closed)).toEqual([true, true, true]));
    expect(used.closed).toBe(false);
  });

  it('are bounded in number: a flood of one address closes its own, and others get in', async () => {
    await begin({ limits: { connections: 40 } });
    const flood: Socket[] = [];
    for (let count = 0; count < 60; count++) {
      const socket = connectPlain({ port: port(), host: '127.0.0.1', localAddress: '127.0.0.2' });
      socket.on('error', () => {});
      opened.push(socket);
      flood.push(socket);
      await once(socket, 'connect');
      socket.write(HELLO);
    }
    await until(() => expect(flood.filter(({ closed }) => !closed)).toHaveLength(10));
    expect(await askTls({ port: port(), ca: ca(), path: '/api/ping' })).toMatchObject({ status: 200 });
  });
});

describe('another certificate', () => {
  it('is taken up under load: no request fails, and connections stay', async () => {
    // The connection that is kept says nothing for as long as a busy machine needs for the load.
    await begin({ limits: { headersMs: 300_000 } });
    const operator = await OperatorAuthority.create();
    const cas = [ca(), operator.ca];
    const agentless = (): Promise<number> =>
      askTls({ port: port(), ca: cas, path: '/api/ping' }).then(({ status }) => status);
    const kept = await shake({ ca: cas });
    const before = kept.getPeerX509Certificate()?.fingerprint256;
    const statuses: number[] = [];
    let isOver = false;
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) statuses.push(await agentless());
    });
    for (let round = 1; round <= 5; round++) {
      await until(() => expect(statuses.length).toBeGreaterThan(round * 16));
      certificate.replace(await operator.pair());
    }
    isOver = true;
    await Promise.all(load);
    expect(new Set(statuses)).toEqual(new Set([200]));
    const after = (await shake({ ca: cas })).getPeerX509Certificate()?.fingerprint256;
    expect(after).not.toBe(before);
    kept.write('GET /api/ping HTTP/1.1\r\nHost: x\r\n\r\n');
    expect(statusOf(String((await once(kept, 'data'))[0]))).toBe(200);
  });

  it('leaves the versions as they are', async () => {
    await begin();
    const operator = await OperatorAuthority.create();
    certificate.replace(await operator.pair());
    const old = {
      minVersion: 'TLSv1',
      maxVersion: 'TLSv1.1',
      ciphers: 'DEFAULT@SECLEVEL=0',
      ca: operator.ca,
    };
    await expect(shake(old)).rejects.toThrow(/protocol.version/i);
    const hasOld = await shake({ ca: operator.ca, maxVersion: 'TLSv1.2' });
    expect(hasOld.getProtocol()).toBe('TLSv1.2');
  });
});
