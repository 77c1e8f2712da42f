/** Masters that do not lead: what they forward, what they answer themselves, and what they do while nobody leads. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect as connectPlain, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateToken } from '../../../src/access/tokens.js';
import { DroverError } from '../../../src/model/errors.js';
import { instanceRecord } from '../../support/api/api-world.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { MastersWorld, type TestMaster } from '../../support/masters/masters-world.js';
import { until } from '../../support/until.js';

const HOLD_MS = 5000;

let world: MastersWorld;
let leader: TestMaster;
let follower: TestMaster;

beforeEach(async () => {
  world = new MastersWorld();
  leader = await world.add('m1');
  follower = await world.add('m2');
  world.election.lead(leader.peer);
});

afterEach(() => world.stop());

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

interface Sent {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly token?: string;
  /** The address that the client has. */
  readonly from?: string;
  readonly headers?: Record<string, string>;
}

async function send(to: TestMaster, sent: Sent): Promise<Answer> {
  const { method = 'GET', path, body, token, from = '127.0.0.1', headers = {} } = sent;
  const outgoing = request(`${to.api.url}${path}`, {
    method,
    localAddress: from,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  outgoing.end(body);
  const [answer]: [IncomingMessage] = (await once(outgoing, 'response')) as [IncomingMessage];
  // The other side may close before it has read the rest of a body.
  outgoing.on('error', () => undefined);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks).toString() };
}

describe('a master that does not lead', () => {
  it('answers with what the leader says, to reads and writes alike', async () => {
    const token = leader.api.admin;
    await leader.api.addConfiguration('lobby');
    const read = await send(follower, { path: '/configurations/lobby', token });
    const direct = await send(leader, { path: '/configurations/lobby', token });
    expect(read).toMatchObject({ status: 200, body: direct.body });
    expect(read.headers.etag).toBe(direct.headers.etag);
    const configuration = { name: 'game', runtime: 'process', command: 'sleep 1' };
    const written = await send(follower, {
      ...{ method: 'PUT', path: '/configurations/game', token },
      body: JSON.stringify(configuration),
    });
    expect(written.status).toBe(204);
    expect(leader.api.written).toMatchObject([{ name: 'game' }]);
    expect(follower.api.written).toEqual([]);
    expect(await send(follower, { path: '/configurations/none', token })).toMatchObject({ status: 404 });
  });

  it('takes a request that announces trailers and has none', async () => {
    const { hostname, port } = new URL(follower.api.url);
    const socket = connectPlain(Number(port), hostname);
    const head = ['GET /api/ping/none HTTP/1.1', 'Host: m2', 'Trailer: X-Sum', 'Connection: close'];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 40[14] /);
  });

  it('answers itself what it says of itself, while there is a leader and while there is none', async () => {
    for (const master of [leader.peer, null]) {
      world.election.lead(master);
      const ping = await send(follower, { path: '/ping' });
      expect(JSON.parse(ping.body)).toMatchObject({ nodeId: 'm2' });
      expect((await send(follower, { path: '/metrics?x=1' })).status).toBe(200);
      expect((await send(follower, { path: '/../ui' })).status).not.toBe(503);
    }
  });

  it('answers about itself: what it is, how it is set, and that it ends', async () => {
    const token = follower.api.admin;
    for (const master of [leader.peer, null]) {
      world.election.lead(master);
      for (const path of ['/node', '/node/config', '/node/'])
        expect(JSON.parse((await send(follower, { path, token })).body)).toMatchObject({ nodeId: 'm2' });
      expect(await send(follower, { path: '/node' })).toMatchObject({ status: 401 });
      expect(await send(follower, { path: '/openapi.json' })).toMatchObject({ status: 200 });
    }
    const weak = await follower.api.addKey('weak', 'READ');
    expect(await send(follower, { method: 'POST', path: '/node/stop', token: weak })).toMatchObject({
      status: 403,
    });
    const stopped = await send(follower, { method: 'POST', path: '/node/stop', token });
    expect(stopped.status).toBe(202);
    expect(JSON.parse(stopped.body)).toMatchObject({
      message: expect.stringContaining('on node m2'),
    });
    await until(() => expect(follower.api.stops).toBe(1));
    expect(leader.api.stops).toBe(0);
    expect(follower.api.audit.entries.at(-1)).toMatchObject({ action: 'POST /node/stop' });
  });

  it('answers nothing about itself before it has the keys', async () => {
    follower.api.hasKeys = false;
    const token = follower.api.admin;
    expect(await send(follower, { path: '/node', token })).toMatchObject({ status: 503 });
    expect(await send(follower, { path: '/ping' })).toMatchObject({ status: 200 });
  });

  it('judges a path as the router reads it', async () => {
    const token = await leader.api.addKey('both', 'ALL');
    await follower.api.copyKey(leader.api, 'both');
    await leader.api.addConfiguration('lobby');
    const { origin } = new URL(follower.api.url);
    const ask = async (path: string): Promise<string> => {
      const { hostname, port } = new URL(follower.api.url);
      const socket = connectPlain(Number(port), hostname);
      const head = [
        `GET ${path} HTTP/1.1`,
        'Host: m2',
        `Authorization: Bearer ${token}`,
        'Connection: close',
      ];
      socket.write(`${head.join('\r\n')}\r\n\r\n`);
      const answer = await text(socket);
      return `${answer.slice(9, 12)} ${answer.includes('lobby') ? 'leader' : ''}`;
    };
    expect(await ask('/%61pi/configurations')).toBe('200 leader');
    expect(await ask('/%61pi/%63onfigurations/?x=1')).toBe('200 leader');
    expect(await ask(`${origin}/api/configurations`)).toBe('200 leader');
    for (const path of ['/API/configurations', '/./api/configurations', '//api/configurations', '/nothing'])
      expect(await ask(path)).toBe('404 ');
    expect(await ask('/%zz')).toBe('400 ');
    expect(await ask('/%61pi/n%6Fde')).toBe('200 ');
  });

  it('tells the leader the address of the client, and lets nobody else tell it', async () => {
    const token = await leader.api.addKey('near', 'ALL', { from: ['127.0.0.7'] });
    const path = '/configurations';
    const spoofed = { 'drover-client-address': '127.0.0.7' };
    expect((await send(follower, { path, token, from: '127.0.0.7' })).status).toBe(200);
    expect((await send(follower, { path, token, from: '127.0.0.8' })).status).toBe(403);
    expect((await send(follower, { path, token, from: '127.0.0.8', headers: spoofed })).status).toBe(403);
    expect((await send(leader, { path, token, from: '127.0.0.8', headers: spoofed })).status).toBe(403);
    await send(follower, {
      ...{ method: 'DELETE', path: '/configurations/none', token: leader.api.admin, from: '127.0.0.9' },
    });
    expect(leader.api.audit.entries.at(-1)).toMatchObject({ address: '127.0.0.9' });
    expect(follower.api.audit.entries).toEqual([]);
  });

  it('answers 401 to every wrong key, and folds the log by the address of the client, not by its own', async () => {
    const wrong = (from: string) => send(follower, { path: '/instances', token: generateToken(), from });
    const statuses = new Set<number>();
    for (let index = 0; index < 40; index++) statuses.add((await wrong('127.0.0.20')).status);
    expect([...statuses]).toEqual([401]);
    const logged = () => leader.api.log.filter(({ msg }) => String(msg).startsWith('refused authentication'));
    expect(logged()).toHaveLength(31);
    await wrong('127.0.0.21');
    expect(logged()).toHaveLength(32);
  });

  it('answers 401 itself to what carries no token, also while no master leads', async () => {
    world.election.lead(null);
    const { pending } = follower.api.clock;
    for (const token of [undefined, 'wrong']) {
      const sent = { path: '/instances', ...(token !== undefined && { token }) };
      expect((await send(follower, sent)).status).toBe(401);
      expect((await send(follower, { ...sent, method: 'POST', body: '{}' })).status).toBe(401);
    }
    expect((await SocketClient.refusal(`${follower.api.url}/console`, {})).status).toBe(401);
    expect(follower.api.clock.pending).toBe(pending);
  });

  it('passes a large body to the leader and its answer back', async () => {
    const token = leader.api.admin;
    const path = '/templates/global/big/files/world.dat';
    const body = 'x'.repeat(5 * 1024 * 1024);
    const put = await send(follower, {
      ...{ method: 'POST', path, token, body },
      headers: { 'content-type': 'application/octet-stream' },
    });
    expect(put.status).toBe(201);
    const got = await send(follower, { path, token });
    expect(got.body.length).toBe(body.length);
  });

  it('passes on the answer to a body that the leader does not read', async () => {
    const body = JSON.stringify('x'.repeat(2 * 1024 * 1024));
    const sent = { method: 'PUT', path: '/configurations/big', token: leader.api.admin, body };
    expect(await send(follower, sent)).toMatchObject({ status: 413 });
  });

  it('carries a stream of lines as it comes, and ends it at the leader when the client goes', async () => {
    const sockets = () => leader.api.metrics.exposition().then((pieces) => pieces.join(''));
    const outgoing = request(`${follower.api.url}/watch?subscribe=instances`, {
      headers: { authorization: `Bearer ${leader.api.admin}` },
    });
    outgoing.on('error', () => undefined);
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    answer.on('data', (chunk) => {
      text += chunk;
    });
    answer.on('error', () => undefined);
    await until(() => expect(text).toContain('"snapshot"'));
    expect(await sockets()).toMatch(/^drover_api_sockets 1$/m);
    outgoing.destroy();
    await until(async () => expect(await sockets()).toMatch(/^drover_api_sockets 0$/m));
  });

  it('carries WebSockets, refusals before them, and closes them clearly when the leader goes', async () => {
    const url = `${follower.api.url}/console`;
    expect(await SocketClient.refusal(url)).toMatchObject({ status: 401 });
    const socket = await SocketClient.open(url, { token: leader.api.admin });
    socket.send('help');
    await until(() => expect(socket.texts.join('')).toContain('would run: help'));
    leader.proxy.cut();
    expect(await socket.closed).toEqual({
      code: 1001,
      reason: 'the leader of the masters has gone: connect again',
    });
  });

  it('ends what follows something at a leader when another one leads, so that it goes on there', async () => {
    const socket = await SocketClient.open(`${leader.api.url}/console`, { token: leader.api.admin });
    world.election.lead(follower.peer);
    expect(await socket.closed).toEqual({
      code: 1001,
      reason: 'the leader of the masters has gone: connect again',
    });
  });

  it('passes on the word with which the leader closes a WebSocket', async () => {
    const socket = await SocketClient.open(`${follower.api.url}/console`, { token: leader.api.admin });
    const { closed } = socket;
    await leader.api.server.stop();
    expect(await closed).toMatchObject({ code: 1001, reason: expect.not.stringContaining('leader') });
  });
});

describe('a master that follows, under strangers', () => {
  /** Opens connections with a head that announces a body, and sends no body. */
  const heads = async (count: number, path: string) => {
    const { hostname, port } = new URL(follower.api.url);
    return Promise.all(
      Array.from({ length: count }, async () => {
        const socket = connectPlain({ port: Number(port), host: hostname });
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write([`POST ${path} HTTP/1.1`, 'Host: m2', 'Content-Length: 10', '', ''].join('\r\n'));
        return socket;
      }),
    );
  };
  let token = '';

  beforeEach(async () => {
    token = await leader.api.addKey('both', 'ALL');
    await follower.api.copyKey(leader.api, 'both');
  });

  it('takes no tunnel for the body of an open route before the body is there', async () => {
    const sockets = await heads(40, '/api/sessions/redeem');
    await until(() => expect(follower.api.clock.pending).toBeGreaterThanOrEqual(40));
    const redeem = { method: 'POST', path: '/sessions/redeem', body: '{"code":"x"}' };
    expect((await send(follower, redeem)).status).toBe(401);
    expect((await send(follower, { path: '/configurations', token })).status).toBe(200);
    const answers = sockets.map((socket) => text(socket));
    await world.advance(10_000);
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    const large = await send(follower, { ...redeem, body: 'x'.repeat(100_000) });
    expect(large.status).toBe(413);
  });

  it('gives strangers a share, says at once that it is used up, and serves key holders', async () => {
    world.election.lead(null);
    const { pending } = follower.api.clock;
    const unknown = { path: '/instances', token: generateToken() };
    const waiting = Array.from({ length: 32 }, () => send(follower, unknown));
    await until(() => expect(follower.api.clock.pending).toBe(pending + 32));
    const refused = await send(follower, unknown);
    expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect(JSON.parse(refused.body)).toEqual({
      error: 'too many requests without an API key are on their way to the leader: try again',
      code: 'DRV_OVERLOADED',
    });
    const further = ['127.0.0.2', '127.0.0.3', '127.0.0.4'].flatMap((from) =>
      Array.from({ length: 32 }, () => send(follower, { ...unknown, from })),
    );
    await until(() => expect(follower.api.clock.pending).toBe(pending + 128));
    expect(await send(follower, { ...unknown, from: '127.0.0.5' })).toMatchObject({ status: 503 });
    const known = send(follower, { path: '/configurations', token });
    await until(() => expect(follower.api.clock.pending).toBe(pending + 129));
    world.election.lead(leader.peer);
    expect((await known).status).toBe(200);
    for (const { status } of await Promise.all([...waiting, ...further])) expect(status).toBe(401);
    expect((await send(follower, unknown)).status).toBe(401);
  });

  it('keeps the connection of a key holder when strangers take all places', async () => {
    const small = await world.add('m3', { limits: { connections: 8 } });
    await small.api.copyKey(leader.api, 'both');
    const { hostname, port } = new URL(small.api.url);
    const opened: Socket[] = [];
    const open = async (localAddress: string): Promise<Socket> => {
      const socket = connectPlain({ port: Number(port), host: hostname, localAddress });
      socket.on('error', () => undefined).resume();
      await once(socket, 'connect');
      opened.push(socket);
      return socket;
    };
    const ask = async (socket: Socket): Promise<string> => {
      socket.write(`GET /api/configurations HTTP/1.1\r\nHost: m3\r\nAuthorization: Bearer ${token}\r\n\r\n`);
      const [answer] = await Promise.race([
        once(socket, 'data'),
        once(socket, 'close').then(() => ['closed']),
      ]);
      return String(answer).slice(9, 12);
    };
    const known = await open('127.0.0.1');
    expect(await ask(known)).toBe('200');
    const watch = await SocketClient.open(`${small.api.url}/watch`, { token });
    for (let host = 1; host <= 6; host++) for (let made = 0; made < 3; made++) await open(`127.0.0.${host}`);
    await until(() => expect(opened.filter(({ closed }) => closed).length).toBeGreaterThanOrEqual(11));
    expect(await ask(known)).toBe('200');
    await watch.close();
    for (const socket of opened) socket.destroy();
  });

  it('gives an instance a share of its own', async () => {
    const { id, createdAt } = await follower.api.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const own = follower.api.tokens.issue(id, createdAt);
    world.election.lead(null);
    const { pending } = follower.api.clock;
    const reports = Array.from({ length: 8 }, () => send(follower, { path: '/instances', token: own }));
    await until(() => expect(follower.api.clock.pending).toBe(pending + 8));
    expect(JSON.parse((await send(follower, { path: '/instances', token: own })).body)).toMatchObject({
      error: expect.stringContaining('too many requests of instances'),
    });
    const stranger = send(follower, { path: '/instances', token: generateToken() });
    await until(() => expect(follower.api.clock.pending).toBe(pending + 9));
    world.election.lead(leader.peer);
    for (const { status } of await Promise.all([...reports, stranger])) expect(status).toBe(401);
  });
});

describe('while nobody leads', () => {
  it('a request waits for the next leader', async () => {
    world.election.lead(null);
    const answered = send(follower, { path: '/configurations', token: follower.api.admin });
    const socket = SocketClient.open(`${follower.api.url}/console`, { token: follower.api.admin });
    await until(() => expect(follower.api.clock.pending).toBeGreaterThanOrEqual(2));
    world.election.lead(follower.peer);
    expect((await answered).status).toBe(200);
    await (await socket).close();
  });

  it('a request is answered with 503 after 5 s, with when to come again, and that nothing was done', async () => {
    world.election.lead(null);
    const before = follower.api.clock.pending;
    const token = leader.api.admin;
    const answered = send(follower, { method: 'POST', path: '/instances', body: '{}', token });
    const socket = SocketClient.refusal(`${follower.api.url}/console`, { token });
    await until(() => expect(follower.api.clock.pending).toBe(before + 2));
    await world.advance(HOLD_MS);
    const { status, headers, body } = await answered;
    expect({ status, body }).toEqual({
      status: 503,
      body: '{"error":"no master leads at this moment: try again","code":"DRV_NOT_LEADER"}',
    });
    const again = { 'retry-after': '1', 'drover-not-taken': '1' };
    expect(headers).toMatchObject(again);
    expect(await socket).toMatchObject({ status: 503, headers: again });
  });

  it('no more than 512 requests wait', async () => {
    world.election.lead(null);
    const token = follower.api.admin;
    const before = follower.api.clock.pending;
    const waiting = Array.from({ length: 512 }, () => send(follower, { path: '/instances', token }));
    await until(() => expect(follower.api.clock.pending).toBe(before + 512));
    expect(await send(follower, { path: '/instances', token })).toMatchObject({
      status: 503,
      body: expect.stringContaining('too many requests wait for the leader'),
    });
    world.election.lead(follower.peer);
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('a leader whose state is not loaded yet keeps requests waiting, too', async () => {
    follower.api.isReady = false;
    world.election.lead(follower.peer);
    const before = follower.api.clock.pending;
    const answered = send(follower, { path: '/configurations', token: follower.api.admin });
    await until(() => expect(follower.api.clock.pending).toBeGreaterThan(before));
    follower.api.isReady = true;
    await world.advance(200);
    expect((await answered).status).toBe(200);
  });
});

describe('when the leader goes in the middle of a request', () => {
  /** Resolves when the leader has the request. */
  const atLeader = async (): Promise<void> => {
    await new Promise<void>((resolve) => {
      leader.api.hold = () => {
        resolve();
        return new Promise(() => undefined);
      };
    });
  };

  it('a write is not repeated, and the client is told that nobody knows', async () => {
    const instance = { path: '/instances/aaaaaa/lifecycle?target=stop', method: 'PATCH' };
    await leader.api.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const there = atLeader();
    const answered = send(follower, { ...instance, token: leader.api.admin });
    await there;
    leader.proxy.cut();
    expect(await answered).toMatchObject({
      status: 502,
      body: expect.stringMatching(
        /master m1 led and went away before it answered: whether PATCH \S+ took effect/,
      ),
    });
  });
});

describe('while a master hands over', () => {
  const path = '/configurations/game';
  const token = async (): Promise<string> => {
    const made = await leader.api.addKey('both', 'ALL');
    await follower.api.copyKey(leader.api, 'both');
    return made;
  };
  const bodyOf = (size: number): string =>
    JSON.stringify({ name: 'game', runtime: 'process', command: `echo ${'x'.repeat(size)}` });
  /** Resolves when a request that the former leader has not taken waits at `master`. */
  const untilRefused = async (master: TestMaster, waiting: number): Promise<void> =>
    until(() => expect(master.api.clock.pending).toBe(waiting + 1));

  it('a write that it has not begun goes to the next leader, once', async () => {
    const third = await world.add('m3');
    const key = await token();
    const { pending } = third.api.clock;
    world.election.handOver();
    const body = bodyOf(20_000);
    const answered = send(third, { method: 'PUT', path, token: key, body });
    await untilRefused(third, pending);
    world.election.lead(follower.peer);
    const { status, headers } = await answered;
    expect(status).toBe(204);
    expect(headers).not.toHaveProperty('drover-not-taken');
    expect(leader.api.written).toEqual([]);
    expect(follower.api.written).toMatchObject([{ name: 'game', input: JSON.parse(body) }]);
  });

  it('an upload that it has not begun goes to the next leader whole', async () => {
    const third = await world.add('m3');
    const key = await token();
    const { pending } = third.api.clock;
    world.election.handOver();
    const upload = '/templates/global/big/files/world.dat';
    const answered = send(third, {
      ...{ method: 'POST', path: upload, token: key, body: 'x'.repeat(5 * 1024 * 1024) },
      headers: { 'content-type': 'application/octet-stream' },
    });
    await untilRefused(third, pending);
    world.election.lead(follower.peer);
    expect((await answered).status).toBe(201);
    expect((await send(follower, { path: upload, token: key })).body).toHaveLength(5 * 1024 * 1024);
  });

  it('a write that it has not begun is done by the master that has forwarded it, when that one leads next', async () => {
    const key = await token();
    const { pending } = follower.api.clock;
    world.election.handOver();
    const body = bodyOf(10);
    const answered = send(follower, { method: 'PUT', path, token: key, body });
    await untilRefused(follower, pending);
    world.election.lead(follower.peer);
    expect((await answered).status).toBe(204);
    expect(follower.api.written).toMatchObject([{ name: 'game', input: JSON.parse(body) }]);
  });

  it('a body stays with a client that asks whether it is wanted', async () => {
    const key = await token();
    const { pending } = follower.api.clock;
    world.election.handOver();
    const body = bodyOf(10);
    const outgoing = request(`${follower.api.url}${path}`, {
      method: 'PUT',
      headers: {
        authorization: `Bearer ${key}`,
        expect: '100-continue',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    let mayGoOn = false;
    outgoing.once('continue', () => {
      mayGoOn = true;
      outgoing.end(body);
    });
    outgoing.flushHeaders();
    await untilRefused(follower, pending);
    expect(mayGoOn).toBe(false);
    world.election.lead(follower.peer);
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(204);
    expect(follower.api.written).toHaveLength(1);
  });

  it('a WebSocket that it has not taken goes to the next leader', async () => {
    const third = await world.add('m3');
    const key = await token();
    const { pending } = third.api.clock;
    world.election.handOver();
    const opening = SocketClient.open(`${third.api.url}/console`, { token: key });
    await untilRefused(third, pending);
    world.election.lead(follower.peer);
    const socket = await opening;
    socket.send('help');
    await until(() => expect(socket.texts.join('')).toContain('would run: help'));
    await socket.close();
  });

  it('its own clients wait for the next leader', async () => {
    const key = await token();
    const { pending } = leader.api.clock;
    world.election.handOver();
    const answered = send(leader, { method: 'PUT', path, token: key, body: bodyOf(10) });
    await until(() => expect(leader.api.clock.pending).toBe(pending + 1));
    world.election.lead(follower.peer);
    expect((await answered).status).toBe(204);
    expect(leader.api.written).toEqual([]);
  });

  it('a write is refused when nobody leads for 5 s in all, however often it was not taken', async () => {
    const key = await token();
    const { pending } = follower.api.clock;
    world.election.handOver();
    const answered = send(follower, { method: 'PUT', path, token: key, body: bodyOf(10) });
    for (let waited = 0; waited < HOLD_MS; waited += 100) {
      await untilRefused(follower, pending);
      await world.advance(100);
    }
    expect((await answered).status).toBe(503);
    expect(leader.api.written).toEqual([]);
  });

  it('what a handler refuses is not repeated: it may have done half of it', async () => {
    await leader.api.putInstance(instanceRecord({ id: 'aaaaaa' }));
    let calls = 0;
    leader.api.hold = async () => {
      calls++;
      throw new DroverError('DRV_NOT_LEADER', 'this master does not lead any more');
    };
    const sent = {
      method: 'PATCH',
      path: '/instances/aaaaaa/lifecycle?target=stop',
      token: leader.api.admin,
    };
    expect(await send(follower, sent)).toMatchObject({
      status: 503,
      body: expect.stringContaining('does not lead any more'),
    });
    expect(calls).toBe(1);
  });

  it('it gives up its term when the writes that it has begun are answered, or after 250 ms', async () => {
    await leader.api.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const write = async (): Promise<{ answered: Promise<Answer>; release: () => void }> => {
      let release = (): void => undefined;
      const begun = new Promise<void>((resolve) => {
        leader.api.hold = () => {
          resolve();
          return new Promise((end) => {
            release = end;
          });
        };
      });
      const path = '/instances/aaaaaa/lifecycle?target=stop';
      const answered = send(follower, { method: 'PATCH', path, token: leader.api.admin });
      await begun;
      return { answered, release };
    };
    const finish = (): { isOver: boolean; over: Promise<void> } => {
      const finishing = {
        isOver: false,
        over: Promise.resolve(leader.api.server.forwarder?.untilAnswered()).then(() => {
          finishing.isOver = true;
        }),
      };
      return finishing;
    };
    const first = await write();
    const second = await write();
    const finishing = finish();
    first.release();
    expect((await first.answered).status).toBe(200);
    expect(finishing.isOver).toBe(false);
    second.release();
    expect((await second.answered).status).toBe(200);
    await finishing.over;
    const third = await write();
    const late = finish();
    await world.advance(249);
    expect(late.isOver).toBe(false);
    await world.advance(1);
    await late.over;
    third.release();
    await third.answered;
  });
});

describe('a question that the leader took with it', () => {
  it('is asked again of the next leader', async () => {
    await leader.api.addConfiguration('lobby');
    const asked = new Promise<void>((resolve) => {
      leader.api.nodeLogs = {
        ...leader.api.nodeLogs,
        readLogs: () => {
          resolve();
          return new Promise(() => undefined);
        },
      };
    });
    await leader.api.putInstance(instanceRecord({ id: 'aaaaaa' }));
    await follower.api.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const third = await world.add('m3');
    const token = await leader.api.addKey('both', 'ALL');
    await follower.api.copyKey(leader.api, 'both');
    const answered = send(third, { path: '/instances/aaaaaa/logs', token });
    await asked;
    world.election.lead(follower.peer);
    leader.proxy.cut();
    await until(async () => {
      await world.advance(100);
      expect(await Promise.race([answered, 'waits'])).toMatchObject({ status: 200 });
    });
  });
});

describe('the way into the API of the leader', () => {
  it('is open to masters alone', async () => {
    const { key, certificate } = await follower.authority.serverCredential();
    const upgrade = 'GET /tunnel HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: drover-api\r\n\r\n';
    const answerTo = async (credential: { key?: string; cert?: string }): Promise<string> => {
      const socket = connect({ port: leader.door.port ?? 0, rejectUnauthorized: false, ...credential });
      await once(socket, 'secureConnect');
      socket.write(upgrade);
      const [answer] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return answer.toString();
    };
    expect(await answerTo({})).toMatch(/^HTTP\/1\.1 403 /);
    expect(await answerTo({ key, cert: certificate })).toMatch(/^HTTP\/1\.1 101 /);
  });

  it('waits at a leader that is about to serve', async () => {
    leader.api.isReady = false;
    const before = leader.api.clock.pending;
    const answered = send(follower, { path: '/configurations', token: leader.api.admin });
    await until(() => expect(leader.api.clock.pending).toBeGreaterThan(before));
    leader.api.isReady = true;
    await world.advance(200);
    expect((await answered).status).toBe(200);
  });

  it('leads to a master that has won and does not serve yet, and waits there', async () => {
    world.election.win(leader.peer);
    const before = leader.api.clock.pending;
    const answered = send(follower, { path: '/configurations', token: leader.api.admin });
    await until(() => expect(leader.api.clock.pending).toBeGreaterThan(before));
    world.election.lead(leader.peer);
    expect((await answered).status).toBe(200);
  });

  it('ends at a master that does not lead: no request goes round', async () => {
    // Each of them believes that the other one leads.
    world.election.lead({ ...leader.peer, nodeId: 'm3' });
    const before = follower.api.clock.pending;
    const answered = send(follower, { path: '/instances', token: leader.api.admin });
    await until(() => expect(follower.api.clock.pending).toBeGreaterThan(before));
    await world.advance(HOLD_MS);
    expect((await answered).status).toBe(503);
  });
});
