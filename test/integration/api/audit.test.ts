/** The audit trail: what the API records in it, and how it shows it. */

import { fastify } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { auditWrites } from '../../../src/api/gate/audit.js';
import type { Actor } from '../../../src/api/gate/auth.js';
import { auditEntrySchema } from '../../../src/model/audit.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { testAccess } from '../../support/api/test-access.js';
import { until } from '../../support/until.js';

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 1000 }));
});
afterEach(() => world.stop());

const recorded = (): string[] =>
  world.audit.entries.map(({ key, action, subject, result }) => [key, action, subject, result].join(' | '));
const putState = (state: string, token?: string) =>
  world.call('PUT', '/instances/aaaaaa/state', { state, players: 3 }, token);

describe('the audit trail', () => {
  it('has an entry for every write by the time it is answered, and none for what only reads', async () => {
    const calls: [string, string, unknown?][] = [
      ['POST', '/instances', { configurationName: 'hello' }],
      ['PATCH', '/instances/aaaaaa/lifecycle?target=stop'],
      ['POST', '/instances/aaaaaa/stop'],
      ['POST', '/instances/aaaaaa/execute', { command: 'op secret-player' }],
      ['PUT', '/configurations/x', { command: 'y', environmentVariables: { A: 'secret-value' } }],
      [
        'PUT',
        '/configurations/hello',
        { runtime: 'process', command: 'sleep 1', ramMB: 77, environmentVariables: { A: 'secret-value' } },
      ],
      ['DELETE', '/configurations/nope'],
      ['POST', '/instances', { configurationName: 'nope' }],
      ['POST', '/cluster/nodes/n1', { command: 'secret' }],
      ['DELETE', '/instances/aaaaaa'],
    ];
    for (const [index, call] of calls.entries()) {
      await world.call(...call);
      expect(recorded()).toHaveLength(index + 1);
    }
    for (const path of ['/instances', '/audit', '/ping', '/node']) await world.call('GET', path);
    expect(recorded()).toEqual([
      'boss | POST /instances | new001 of hello | 201',
      'boss | PATCH /instances/:id/lifecycle | aaaaaa target=stop | 200',
      'boss | POST /instances/:id/stop | aaaaaa | 200',
      'boss | POST /instances/:id/execute | aaaaaa | 200',
      'boss | PUT /configurations/:name | x | 204',
      'boss | PUT /configurations/:name | hello: environmentVariables.A, ramMB | 204',
      'boss | DELETE /configurations/:name | nope | 404',
      'boss | POST /instances |  | 400',
      'boss | POST /cluster/nodes/:id | n1 | 400',
      'boss | DELETE /instances/:id | aaaaaa | 200',
    ]);
    for (const { at, address } of world.audit.entries)
      expect([at, address]).toEqual([world.clock.now(), '127.0.0.1']);
    expect(JSON.stringify([world.audit.entries, world.log])).not.toContain('secret');
    expect(JSON.stringify([world.audit.entries, world.log])).not.toContain(world.admin);
  });

  it('names a template and its file as one path', async () => {
    const server = fastify();
    const actor: Actor = testAccess('ci');
    server.decorateRequest('actor', { getter: () => actor });
    server.decorateRequest('subject', null);
    server.decorateRequest('isRoutine', false);
    const url = '/api/templates/:group/:name/files/*';
    server.addHook('onRoute', auditWrites(world.audit));
    server.post(url, { config: { scope: 'ALL' } }, () => 'made');
    await server.inject({ method: 'POST', url: '/api/templates/games/lobby/files/maps/my%20map.dat' });
    expect(recorded()).toEqual([
      'ci | POST /templates/:group/:name/files/* | games/lobby/maps/my map.dat | 200',
    ]);
    await server.close();
  });

  it('tells how a write ended whose client did not wait for the answer', async () => {
    let release = (): void => undefined;
    let isHeld = false;
    world.hold = () =>
      new Promise((resolve) => {
        isHeld = true;
        release = resolve;
      });
    const abort = new AbortController();
    const url = `${world.url}/instances/aaaaaa/lifecycle?target=restart`;
    const headers = { authorization: `Bearer ${world.admin}` };
    const call = fetch(url, { method: 'PATCH', headers, signal: abort.signal });
    await until(() => expect(isHeld).toBe(true));
    abort.abort();
    await expect(call).rejects.toThrow();
    release();
    await until(() =>
      expect(recorded()).toEqual(['boss | PATCH /instances/:id/lifecycle | aaaaaa target=restart | 200']),
    );
  });

  it('leaves the request around a command out, which is an entry of its own, unless it was refused', async () => {
    await world.call('POST', '/commands/execute', { command: 'instance list' });
    expect(recorded()).toEqual([]);
    await world.call('POST', '/commands/execute', {});
    expect(recorded()).toEqual(['boss | POST /commands/execute |  | 400']);
  });

  it('does not drown in state reports: only what changes the state, and never what an instance says of itself', async () => {
    const token = world.tokens.issue('aaaaaa', 1000);
    for (const state of ['ONLINE', 'STOPPED', 'ONLINE']) await putState(state, token);
    expect(recorded()).toEqual([]);
    for (let index = 0; index < 5; index++) await putState('ONLINE');
    expect(recorded()).toEqual([]);
    await putState('OFFLINE');
    await putState('OFFLINE');
    await putState('NONSENSE');
    expect(recorded()).toEqual([
      'boss | PUT /instances/:id/state | aaaaaa | 200',
      'boss | PUT /instances/:id/state | aaaaaa | 400',
    ]);
  });
});

describe('refused authentications', () => {
  it('are entries, with the label of a key that was not enough, and lines of the log', async () => {
    const token = await world.addKey('site', 'PUBLIC');
    await world.call('DELETE', '/instances/aaaaaa', undefined, token);
    await world.call('GET', '/instances', undefined, 'drv_wrong');
    await world.call('GET', '/instances/bbbbbb', undefined, world.tokens.issue('aaaaaa', 1000));
    await world.call('GET', '/nothing/secret', undefined, 'drv_wrong');
    expect(recorded()).toEqual([
      'site | DELETE /instances/:id | aaaaaa | 401',
      ' | GET /instances |  | 401',
      'instance aaaaaa | GET /instances/:id | bbbbbb | 401',
      ' | GET of no endpoint |  | 401',
    ]);
    const lines = world.log.filter(({ msg }) => String(msg).startsWith('refused authentication'));
    expect(lines.map(({ key, method, route, status }) => [key, method, route, status])).toEqual([
      ['site', 'DELETE', '/api/instances/:id', 401],
      [null, 'GET', '/api/instances', 401],
      ['instance aaaaaa', 'GET', '/api/instances/:id', 401],
      [null, 'GET', null, 401],
    ]);
  });

  it('are bounded by address, and over all addresses: they cannot push out what was done', async () => {
    await world.call('DELETE', '/configurations/hello');
    const fail = (remoteAddress: string) => world.server.inject({ url: '/api/instances', remoteAddress });
    for (let index = 0; index < 100; index++) await fail('10.0.0.1');
    // 30 refusals with 401, and one line which says that more are left out.
    expect(recorded()).toHaveLength(1 + 31);
    for (let index = 0; index < 320; index++) await fail(`10.1.${index >> 8}.${index & 255}`);
    expect(recorded()).toHaveLength(1 + 301);
    expect(recorded().at(-1)).toContain('further refusals are left out until they pause');
    expect(recorded()[0]).toBe('boss | DELETE /configurations/:name | hello | 204');
    await world.clock.advance(1000);
    await fail('10.2.0.1');
    expect(recorded()).toHaveLength(1 + 302);
  });
});

describe('a stranger that knocks on the API for hours', () => {
  it.each([
    ['from one address', () => '10.0.0.1'],
    ['from one network of IPv6', (index: number) => `2001:db8::${index.toString(16)}`],
  ])('%s leaves the last entries to others', async (_from, addressOf) => {
    await world.call('DELETE', '/configurations/hello');
    for (let index = 0; index < 600; index++) {
      await world.server.inject({ url: '/api/instances', remoteAddress: addressOf(index) });
      await world.clock.advance(60_000);
    }
    expect(recorded()[0]).toBe('boss | DELETE /configurations/:name | hello | 204');
    // Thirty at once, then two every ten minutes: one more, and that there are others.
    expect(recorded().length).toBeLessThan(1 + 31 + 2 * 61);
  });
});

describe('GET /audit', () => {
  const read = async (query: string) => {
    const response = await world.call('GET', `/audit${query}`);
    return { status: response.status, body: await response.json() };
  };

  it('answers the last entries, newest last: 100 unless the limit says otherwise', async () => {
    for (let index = 0; index < 1200; index++) {
      const entry = { key: 'boss', action: 'command', subject: `n${index}`, address: null, result: 'ok' };
      world.audit.record(entry);
    }
    const entries = auditEntrySchema.array().parse((await read('')).body);
    expect(entries.map(({ subject }) => subject)).toEqual(
      Array.from({ length: 100 }, (_, index) => `n${1100 + index}`),
    );
    expect((await read('?limit=1')).body).toMatchObject([{ subject: 'n1199' }]);
    expect((await read('?limit=1000')).body).toHaveLength(1000);
  });

  it.each(['0', '1001', '-1', '1.5', 'x', '', '1e9'])('refuses ?limit=%s with 400', async (limit) => {
    const error = expect.stringContaining('limit: must be a whole number from 1 to 1000');
    expect(await read(`?limit=${limit}`)).toEqual({
      status: 400,
      body: refusal(error, 'DRV_REQUEST_INVALID'),
    });
  });

  it('needs an ALL key', async () => {
    const tokens = [await world.addKey('site', 'PUBLIC'), world.tokens.issue('aaaaaa', 1000), 'nonsense'];
    for (const token of tokens)
      expect((await world.call('GET', '/audit', undefined, token)).status).toBe(401);
  });
});
