/** Keys with restrictions: addresses, an expiry, configurations, and what lists and sockets make of them. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { until } from '../../support/until.js';

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  for (const name of ['lobby', 'lobby-2', 'survival']) await world.addConfiguration(name);
  await world.addNode('n1');
  await world.putInstance(instanceRecord({ id: 'aaaaaa', configurationName: 'lobby' }));
  await world.putInstance(instanceRecord({ id: 'bbbbbb', configurationName: 'lobby-2', createdAt: 1001 }));
  await world.putInstance(instanceRecord({ id: 'cccccc', configurationName: 'survival', createdAt: 1002 }));
});
afterEach(() => world.stop());

const ask = (token: string, remoteAddress = '127.0.0.1', url = '/api/instances') =>
  world.server.inject({ url, remoteAddress, headers: { authorization: `Bearer ${token}` } });
const get = async (path: string, token: string) => (await world.call('GET', path, undefined, token)).json();

describe('a key that may be used from some addresses', () => {
  it('is refused with 403 elsewhere, which does not say from where it may be used', async () => {
    const token = await world.addKey('office', 'READ', { from: ['10.0.0.0/8', '2001:db8::/32'] });
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::7'])
      expect([address, (await ask(token, address)).statusCode]).toEqual([address, 200]);
    for (const address of ['127.0.0.1', '::ffff:11.0.0.1', '2001:db9::7', '::1']) {
      const refused = await ask(token, address);
      expect([refused.statusCode, refused.json()]).toEqual([
        403,
        refusal(`key office may not be used from ${address}`),
      ]);
    }
    const statuses = new Set<number>();
    for (let index = 0; index < 40; index++) statuses.add((await ask(token, '11.0.0.2')).statusCode);
    expect([...statuses]).toEqual([403]);
    expect((await ask(token, '10.0.0.1')).statusCode).toBe(200);
    expect(world.audit.entries.at(-1)).toMatchObject({ key: 'office', address: '11.0.0.2', result: '403' });
  });

  it('opens no socket elsewhere, and is nobody on open routes there', async () => {
    const token = await world.addKey('office', 'ALL', { from: ['10.0.0.0/8'] });
    expect((await SocketClient.refusal(`${world.url}/console`, { token })).status).toBe(403);
    expect((await ask(token, '127.0.0.1', '/api/metrics')).statusCode).toBe(200);
  });
});

describe('a key that expires', () => {
  it('is refused from that moment on with 401 and a challenge that says so, and its sockets are closed', async () => {
    const expiresAt = world.clock.now() + 3_600_000;
    const token = await world.addKey('guest', 'ALL', { expiresAt });
    const socket = await SocketClient.open(`${world.url}/console`, { token });
    await world.clock.advance(3_599_999);
    expect((await ask(token)).statusCode).toBe(200);
    await world.clock.advance(1);
    const refused = await ask(token);
    expect([refused.statusCode, refused.body]).toEqual([
      401,
      '{"error":"Unauthorized","code":"DRV_KEY_REFUSED"}',
    ]);
    expect(refused.headers['www-authenticate']).toBe(
      'Bearer error="invalid_token", error_description="the key has expired"',
    );
    expect(await socket.closed).toEqual({ code: 1008, reason: 'the key has expired' });
    expect(await get('/keys', world.admin)).toMatchObject([
      { label: 'boss', expiresAt: null, isExpired: false },
      { label: 'guest', expiresAt, isExpired: true },
    ]);
    const metrics = await ask(token, '127.0.0.1', '/api/metrics');
    expect([metrics.statusCode, metrics.body]).toEqual([
      200,
      (await world.server.inject('/api/metrics')).body,
    ]);
  });

  it('stays expired once a request has shown it, however the clock is set', async () => {
    const token = await world.addKey('guest', 'ALL', { expiresAt: world.clock.now() + 3_600_000 });
    const unused = await world.addKey('unused', 'ALL', { expiresAt: world.clock.now() + 3_600_000 });
    world.clock.jumpWallClock(7_200_000);
    expect((await ask(token)).statusCode).toBe(401);
    world.clock.jumpWallClock(-7_200_000);
    expect((await ask(token)).statusCode).toBe(401);
    expect((await ask(unused)).statusCode).toBe(200);
    await until(() => expect(world.keys.get('guest')?.value.endedAt).toBeGreaterThan(0));
    expect(await get('/keys', world.admin)).toMatchObject([
      { label: 'boss', isExpired: false },
      { label: 'guest', isExpired: true },
      { label: 'unused', isExpired: false },
    ]);
    expect((await ask(token)).headers['www-authenticate']).toContain('the key has expired');
  });

  it('is not the one that must remain: the last key without restrictions stays', async () => {
    await world.addKey('guest', 'ALL', { expiresAt: world.clock.now() + 1000 });
    await world.addKey('team', 'ALL', { configurations: ['lobby*'] });
    const kept = await world.call('DELETE', '/keys/boss');
    expect([kept.status, await kept.json()]).toEqual([400, refusal(expect.stringContaining('the last one'))]);
    expect((await world.call('DELETE', '/keys/guest')).status).toBe(200);
  });
});

describe('a key that is restricted to configurations', () => {
  it('finds only these in lists, and only their instances on nodes', async () => {
    const token = await world.addKey('team', 'READ', { configurations: ['lobby*'] });
    const idsOf = (rows: unknown) =>
      z
        .array(z.object({ id: z.string() }))
        .parse(rows)
        .map(({ id }) => id);
    const namesOf = (rows: unknown) =>
      z
        .array(z.object({ name: z.string() }))
        .parse(rows)
        .map(({ name }) => name);
    expect(idsOf(await get('/instances', token))).toEqual(['aaaaaa', 'bbbbbb']);
    expect(idsOf(await get('/instances', world.admin))).toEqual(['aaaaaa', 'bbbbbb', 'cccccc']);
    expect(namesOf(await get('/configurations', token))).toEqual(['lobby', 'lobby-2']);
    expect(namesOf(await get('/cluster/configurations', token))).toEqual(['lobby', 'lobby-2']);
    const node = z.object({ instances: z.unknown() }).parse(await get('/cluster/nodes/n1', token));
    expect(idsOf(node.instances)).toEqual(['aaaaaa', 'bbbbbb']);
    const drain = { since: 1, deadline: 2, remainingMs: 0, isDrained: false, left: 3 };
    world.drains.set('n1', { ...drain, waitingFor: ['cccccc (survival): 2 players'] });
    expect(await get('/cluster/nodes/n1', token)).toMatchObject({ drain: { left: 3, waitingFor: [] } });
    expect(await get('/cluster/nodes/n1', world.admin)).toMatchObject({
      drain: { waitingFor: ['cccccc (survival): 2 players'] },
    });
    const problem = { line: null, column: null, field: null, message: 'x' };
    world.fileErrors.push(
      { ...problem, file: 'a', name: 'lobby' },
      { ...problem, file: 'b', name: 'survival' },
    );
    world.fileErrors.push({ ...problem, file: 'c' });
    expect(await get('/configuration-files/errors', token)).toMatchObject([{ file: 'a' }]);
    await world.putInstance(instanceRecord({ id: 'dddddd', configurationName: 'lobby', createdAt: 1003 }));
    await world.dropInstance('aaaaaa');
    expect(idsOf(await get('/instances', token))).toEqual(['bbbbbb', 'dddddd']);
    expect(await get('/instances', await world.addKey('none', 'READ', { configurations: ['x'] }))).toEqual(
      [],
    );
  });

  it('makes instances of these only: others are unknown, in the words of an unknown one', async () => {
    const token = await world.addKey('team', 'OPERATE', { configurations: ['lobby*'] });
    const make = (configurationName: string) =>
      world.call('POST', '/instances', { configurationName }, token);
    expect((await make('lobby')).status).toBe(201);
    const hidden = await make('survival');
    const unknown = await make('nothing');
    expect([hidden.status, unknown.status]).toEqual([400, 400]);
    expect((await hidden.text()).replace('survival', 'nothing')).toBe(await unknown.text());
  });

  it('follows the logs of their instances only', async () => {
    const token = await world.addKey('team', 'READ', { configurations: ['lobby*'] });
    const socket = await SocketClient.open(`${world.url}/instances/aaaaaa/live-log`, { token });
    await until(() => expect(socket.texts).toEqual(['one', 'two']));
    await socket.close();
    expect((await SocketClient.refusal(`${world.url}/instances/cccccc/live-log`, { token })).status).toBe(
      404,
    );
  });
});

describe('making a key', () => {
  it('takes restrictions, and names the field and the fix of a wrong one', async () => {
    const body = {
      label: 'ci',
      scope: 'OPERATE',
      configurations: ['lobby*'],
      expires: '30d',
      from: ['::1', '127.0.0.0/8'],
    };
    const made = await world.call('POST', '/keys', body);
    const created = z.looseObject({ token: z.string() }).parse(await made.json());
    expect([made.status, created]).toMatchObject([
      201,
      {
        label: 'ci',
        scope: 'OPERATE',
        configurations: ['lobby*'],
        expiresAt: world.clock.now() + 30 * 86_400_000,
      },
    ]);
    expect(await get('/whoami', created.token)).toEqual({
      key: 'ci',
      session: null,
      scope: 'OPERATE',
      configurations: ['lobby*'],
      from: ['::1', '127.0.0.0/8'],
      expiresAt: world.clock.now() + 30 * 86_400_000,
      endsAt: world.clock.now() + 30 * 86_400_000,
      address: '127.0.0.1',
      nodeId: 'n1',
      clusterName: 'test',
      clusterColor: null,
      version: '0.0.0-test',
    });
    for (const [wrong, text] of [
      [{ configurations: [] }, 'body field configurations: '],
      [{ configurations: ['a b'] }, 'body field configurations[0]: must hold only letters'],
      [{ from: ['10.0.0.0/40'] }, 'body field from[0]: must be an address or a range'],
      [{ expires: 'soon' }, 'body field expires: must be a time such as 12h or 30d, a date'],
      [{ expires: '2020-01-01' }, 'expires must be later than now'],
      [{ scope: 'WRITE' }, 'body field scope: '],
    ] as const) {
      const refused = await world.call('POST', '/keys', { label: 'x', scope: 'READ', ...wrong });
      expect([refused.status, await refused.json()]).toEqual([400, refusal(expect.stringContaining(text))]);
    }
  });
});

describe('the last use of a key', () => {
  it('is listed with its address, and is written once a minute at most, and with the stop', async () => {
    const token = await world.addKey('ci', 'ALL');
    const used = async () =>
      z
        .array(z.looseObject({ label: z.string() }))
        .parse(await get('/keys', world.admin))
        .find(({ label }) => label === 'ci');
    const revision = () => world.keys.get('ci')?.revision;
    expect(await used()).toMatchObject({ lastUsedAt: null, lastUsedFrom: null });
    const first = world.clock.now();
    await ask(token, '10.0.0.1');
    await world.clock.advance(0);
    await until(() => expect(world.keys.get('ci')?.value.lastUse).toBeDefined());
    expect(await used()).toMatchObject({ lastUsedAt: first, lastUsedFrom: '10.0.0.1' });
    const written = revision();
    for (let second = 1; second < 60; second++) {
      await world.clock.advance(1000);
      await ask(token, `10.0.0.${second}`);
    }
    expect(revision()).toBe(written);
    await world.clock.advance(1000);
    await until(() => expect(revision()).not.toBe(written));
    expect(await used()).toMatchObject({ lastUsedAt: first + 59_000, lastUsedFrom: '10.0.0.59' });
    await ask(token, '10.0.0.99');
    await world.server.stop();
    expect(world.keys.get('ci')?.value.lastUse).toEqual({ at: first + 60_000, address: '10.0.0.99' });
  });

  it('does not end open sockets, and is no use when the call was refused', async () => {
    const token = await world.addKey('viewer', 'READ');
    const socket = await SocketClient.open(`${world.url}/instances/aaaaaa/live-log`, { token });
    await world.clock.advance(0);
    await until(() => expect(world.keys.get('viewer')?.value.lastUse).toBeDefined());
    const written = world.keys.get('viewer')?.revision;
    for (let minute = 0; minute < 3; minute++) {
      await world.clock.advance(60_000);
      expect((await world.call('POST', '/node/stop', {}, token)).status).toBe(403);
    }
    await until(() => expect(socket.texts).toEqual(['one', 'two']));
    expect(world.keys.get('viewer')?.revision).toBe(written);
    expect(world.stops).toBe(0);
    await socket.close();
  });
});

describe('a key that becomes another one', () => {
  it('ends what was open with the old one, also when only its restrictions changed', async () => {
    const token = await world.addKey('ci', 'ALL');
    const socket = await SocketClient.open(`${world.url}/console`, { token });
    const { hash } = world.keys.get('ci')?.value ?? expect.fail('there is no key');
    const grant = { scope: 'READ', configurations: null, expiresAt: null, from: null };
    const value = { label: 'ci', hash, mask: 'x', createdAt: 1, grant };
    await world.keys.until(await world.store.transact([{ do: 'put', key: 'keys/ci', value }]));
    expect(await socket.closed).toEqual({ code: 1008, reason: 'the key was replaced by another' });
    expect([
      (await ask(token)).statusCode,
      (await ask(token, '127.0.0.1', '/api/console')).statusCode,
    ]).toEqual([200, 403]);
  });
});
