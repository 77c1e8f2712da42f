/** Sessions: made with a key, accepted wherever a key is, never more than the key, and ended in every way there is. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { KeyIndex } from '../../../src/access/key-index.js';
import { isWellFormedToken } from '../../../src/access/tokens.js';
import { sessionKey } from '../../../src/store/keys.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { until } from '../../support/until.js';

const HOUR = 3_600_000;
const createdSchema = z.looseObject({
  id: z.string(),
  token: z.string(),
  expiresAt: z.number(),
  endsAt: z.number(),
});

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld({ limits: { sockets: { perCaller: 2 } } }).start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
});
afterEach(() => world.stop());

async function signIn(key: string, body: unknown = {}) {
  const response = await world.call('POST', '/sessions', body, key);
  expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
  return createdSchema.parse(await response.json());
}

const statusOf = async (token: string, path = '/instances', method = 'GET') =>
  (await world.call(method, path, method === 'GET' ? undefined : {}, token)).status;
const idsOf = async (token: string) =>
  z
    .array(z.looseObject({ id: z.string() }))
    .parse(await (await world.call('GET', '/sessions', undefined, token)).json())
    .map(({ id }) => id);
const live = (token: string) => SocketClient.open(`${world.url}/instances/aaaaaa/live-log`, { token });

describe('a session', () => {
  it('stays ended once it was seen to have ended, however the clock is set, and over restarts', async () => {
    const { id, token } = await signIn(world.admin);
    const other = await signIn(world.admin);
    const socket = await live(token);
    world.clock.jumpWallClock(48 * HOUR);
    expect(await statusOf(token)).toBe(401);
    expect(await socket.closed).toMatchObject({ reason: 'the session has ended' });
    world.clock.jumpWallClock(-48 * HOUR);
    expect(await statusOf(token)).toBe(401);
    // Nobody has seen the other one meanwhile.
    expect(await statusOf(other.token)).toBe(200);
    expect(await idsOf(world.admin)).toEqual([other.id]);
    await until(() => expect(world.sessions.get(id)?.value.endedAt).toBeGreaterThan(0));
    // As after a restart, or at another master.
    const { keys, sessions, clock } = world;
    const [onUse, onOver, onKeyGone] = Array(3).fill(() => undefined);
    const index = new KeyIndex({ keys, sessions, clock, onUse, onOver, onKeyGone });
    expect(index.find(token)?.isOver(clock.now())).toBe(true);
    expect(index.find(other.token)?.isOver(clock.now())).toBe(false);
    index.close();
  });

  it('has a token of its own, which works wherever a key does, and of which only the hash is stored', async () => {
    const { id, token, expiresAt, endsAt } = await signIn(world.admin);
    expect(token).toMatch(/^drvs_[0-9A-Za-z]{36}$/);
    expect(isWellFormedToken(token)).toBe(true);
    expect([expiresAt, endsAt]).toEqual([world.clock.now() + 168 * HOUR, world.clock.now() + 12 * HOUR]);
    expect(await statusOf(token)).toBe(200);
    const encoded = Buffer.from(token).toString('base64url');
    const protocols = ['drover', `base64url.bearer.authorization.drover.${encoded}`];
    const socket = await SocketClient.open(`${world.url}/console`, { protocols });
    expect(socket.websocket.protocol).toBe('drover');
    await socket.close();
    const kept = JSON.stringify([(await world.store.list('')).entries, world.audit.entries, world.log]);
    expect(kept).not.toContain(token.slice(5, 35));
    expect(world.audit.entries.map(({ key, action, subject }) => [key, action, subject])).toContainEqual([
      'boss',
      'POST /sessions',
      id,
    ]);
    await world.call('DELETE', '/instances/aaaaaa', undefined, token);
    expect(world.audit.entries.at(-1)).toMatchObject({ key: `session ${id} of boss`, result: '200' });
  });

  it('says of itself what it may do', async () => {
    const key = await world.addKey('ci', 'OPERATE', { configurations: ['he*'], from: ['127.0.0.0/8'] });
    const { id, token, expiresAt } = await signIn(key, { scope: 'READ', expires: '8h' });
    const said = await (await world.call('GET', '/whoami', undefined, token)).json();
    expect(said).toMatchObject({
      key: 'ci',
      session: id,
      scope: 'READ',
      configurations: ['he*'],
      from: ['127.0.0.0/8'],
    });
    expect(said).toMatchObject({ expiresAt, endsAt: expiresAt, clusterName: 'test' });
    expect(expiresAt).toBe(world.clock.now() + 8 * HOUR);
  });

  it('is never more than its key: scope, configurations, addresses and expiry', async () => {
    const keyEnd = world.clock.now() + HOUR;
    const limits = { configurations: ['other'], from: ['127.0.0.1'], expiresAt: keyEnd };
    const key = await world.addKey('ci', 'READ', limits);
    const wider = await world.call('POST', '/sessions', { scope: 'OPERATE' }, key);
    expect([wider.status, await wider.json()]).toEqual([
      400,
      refusal('body field scope: a session of key ci has scope READ or a narrower one, down to READ'),
    ]);
    const { token, expiresAt } = await signIn(key, { expires: '2d' });
    expect(expiresAt).toBe(keyEnd);
    expect([
      await statusOf(token),
      await statusOf(token, '/instances/aaaaaa'),
      await statusOf(token, '/node/stop', 'POST'),
    ]).toEqual([200, 404, 403]);
    const elsewhere = {
      url: '/api/instances',
      remoteAddress: '10.0.0.1',
      headers: { authorization: `Bearer ${token}` },
    };
    expect((await world.server.inject(elsewhere)).statusCode).toBe(403);
    await world.clock.advance(HOUR);
    expect(await statusOf(token)).toBe(401);
    for (const [body, text] of [
      [{ expires: '8d' }, 'a session lasts 7 days at most'],
      [{ expires: 'soon' }, 'body field expires: must be a time'],
      [{ scope: 'PUBLIC' }, 'body field scope: '],
    ] as const) {
      const refused = await world.call('POST', '/sessions', body);
      expect([refused.status, await refused.json()]).toEqual([400, refusal(expect.stringContaining(text))]);
    }
  });

  it('is made with a key, not with a session, an instance or a PUBLIC key', async () => {
    const { token } = await signIn(world.admin);
    const again = await world.call('POST', '/sessions', {}, token);
    expect([again.status, await again.json()]).toEqual([
      400,
      refusal(expect.stringContaining('not with another session')),
    ]);
    expect(await statusOf(await world.addKey('site', 'PUBLIC'), '/sessions', 'POST')).toBe(401);
    expect(await statusOf(world.tokens.issue('aaaaaa', 1000), '/sessions', 'POST')).toBe(401);
  });

  it('holds sockets of its own: the limit of one session is not that of its key', async () => {
    const [a, b] = [await signIn(world.admin), await signIn(world.admin)];
    const sockets = [await live(a.token), await live(a.token), await live(b.token), await live(world.admin)];
    const refused = await SocketClient.refusal(`${world.url}/console`, { token: a.token });
    expect([refused.status, refused.body]).toEqual([
      429,
      expect.stringContaining(
        `session ${a.id} of boss holds 2 sockets, the most there may be of one session`,
      ),
    ]);
    for (const socket of sockets) await socket.close();
  });

  it('is one of 100 of its key at most; those that ended make room', async () => {
    for (let index = 0; index < 100; index++) await signIn(world.admin);
    const refused = await world.call('POST', '/sessions', {});
    expect([refused.status, await refused.json()]).toEqual([
      400,
      refusal(expect.stringContaining('key boss has 100 sessions')),
    ]);
    expect((await world.call('POST', '/sessions', {}, await world.addKey('ci', 'READ'))).status).toBe(201);
    await world.clock.advance(12 * HOUR);
    await signIn(world.admin);
    expect(world.sessions.size).toBe(102);
    await world.clock.advance(24 * HOUR);
    await signIn(world.admin);
    expect(world.sessions.size).toBe(2);
  });
});

describe('a session ends', () => {
  const isOver = async (token: string, description?: string) => {
    const response = await world.call('GET', '/instances', undefined, token);
    expect([response.status, await response.text()]).toEqual([
      401,
      '{"error":"Unauthorized","code":"DRV_KEY_REFUSED"}',
    ]);
    const challenge =
      description === undefined
        ? 'Bearer'
        : `Bearer error="invalid_token", error_description="${description}"`;
    expect(response.headers.get('www-authenticate')).toBe(challenge);
  };

  it('12 h after its last use, which is stored, and 7 d after it was made', async () => {
    const idle = await signIn(world.admin);
    const busy = await signIn(world.admin);
    for (let hour = 0; hour < 168; hour += 8) {
      expect(await statusOf(busy.token)).toBe(200);
      if (hour === 8) expect(await statusOf(idle.token)).toBe(200);
      if (hour === 16)
        expect(world.sessions.get(idle.id)?.value.lastUse.at).toBe(world.clock.now() - 8 * HOUR);
      if (hour === 24) await isOver(idle.token, 'the session has ended');
      await world.clock.advance(8 * HOUR);
    }
    await isOver(busy.token, 'the session has ended');
    expect(await idsOf(world.admin)).toEqual([]);
  });

  it('later when another master has noted a use', async () => {
    const { id, token } = await signIn(world.admin);
    await world.clock.advance(8 * HOUR);
    const { value } = world.sessions.get(id) ?? expect.fail('no session');
    const used = { ...value, lastUse: { at: world.clock.now(), address: '127.0.0.9' } };
    await world.sessions.until(await world.store.transact([{ do: 'put', key: sessionKey(id), value: used }]));
    await world.clock.advance(8 * HOUR);
    expect(await statusOf(token)).toBe(200);
  });

  it('with its key, and does not come back with another key of that label', async () => {
    const key = await world.addKey('ci', 'READ');
    const { token } = await signIn(key);
    const socket = await live(token);
    await world.removeKey('ci');
    expect(await socket.closed).toEqual({ code: 1008, reason: 'the key was deleted' });
    await isOver(token);
    await world.addKey('ci', 'READ');
    await isOver(token);
    expect(await idsOf(world.admin)).toEqual([]);
  });

  it('when it signs out, with its sockets and no others', async () => {
    const [mine, other] = [await signIn(world.admin), await signIn(world.admin)];
    const [socket, kept] = [await live(mine.token), await live(other.token)];
    const response = await world.call('DELETE', '/sessions/current', undefined, mine.token);
    expect([response.status, await response.json()]).toEqual([
      200,
      { message: `session ${mine.id} is ended`, id: mine.id },
    ]);
    expect(await socket.closed).toEqual({ code: 1008, reason: 'the session was ended' });
    await isOver(mine.token);
    expect(await statusOf(other.token)).toBe(200);
    await until(() => expect(kept.texts).toEqual(['one', 'two']));
    await kept.close();
    expect(world.audit.entries.at(-2)).toMatchObject({
      action: 'DELETE /sessions/:id',
      subject: mine.id,
      result: '200',
    });
    const asKey = await world.call('DELETE', '/sessions/current');
    expect([asKey.status, await asKey.json()]).toEqual([
      404,
      refusal(expect.stringContaining('the caller is a key')),
    ]);
  });

  it('by whoever has its key or scope ALL; to others it is not there', async () => {
    const [ci, other] = [await world.addKey('ci', 'READ'), await world.addKey('other', 'OPERATE')];
    const team = await world.addKey('team', 'ALL', { configurations: ['hello'] });
    const [a, b] = [await signIn(ci), await signIn(ci)];
    const c = await signIn(other);
    expect([await idsOf(ci), await idsOf(a.token), await idsOf(other), await idsOf(team)]).toMatchObject([
      expect.arrayContaining([a.id, b.id]),
      expect.arrayContaining([a.id, b.id]),
      [c.id],
      [],
    ]);
    expect((await idsOf(world.admin)).toSorted()).toEqual([a.id, b.id, c.id].toSorted());
    const end = (id: string, token: string) => statusOf(token, `/sessions/${id}`, 'DELETE');
    expect([await end(a.id, other), await end(a.id, team), await end('nope', world.admin)]).toEqual([
      404, 404, 404,
    ]);
    expect([await end(a.id, b.token), await end(b.id, world.admin), await end(b.id, world.admin)]).toEqual([
      200, 200, 404,
    ]);
    await isOver(a.token);
    await isOver(b.token);
    expect(await statusOf(c.token)).toBe(200);
  });
});
