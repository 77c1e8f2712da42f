/** Who may call what, and every known way around it. */

import { fastify } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generateToken } from '../../../src/access/tokens.js';
import type { ApiDependencies } from '../../../src/api/dependencies.js';
import { actorLabel, Gate, requireScope } from '../../../src/api/gate/auth.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { exchange, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { given } from '../../support/control-plane/given.js';

/** What the root of the server leads to is open, and not in this build. */
const NO_DASHBOARD = 404;

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 1000 }));
  await world.putInstance(instanceRecord({ id: 'bbbbbb', createdAt: 1000 }));
});
afterEach(() => world.stop());

/** The status of a request with these headers, sent without a connection. */
async function status(url: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  return (await world.server.inject({ method, url, headers })).statusCode;
}
const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

const PROTECTED: [string, string][] = [
  ['GET', '/node'],
  ['GET', '/node/config'],
  ['POST', '/node/reload'],
  ['GET', '/instances'],
  ['POST', '/instances'],
  ['GET', '/instances/aaaaaa'],
  ['DELETE', '/instances/aaaaaa'],
  ['GET', '/instances/aaaaaa/logs'],
  ['PUT', '/instances/aaaaaa/state'],
  ['PATCH', '/instances/aaaaaa/lifecycle?target=stop'],
  ['POST', '/instances/aaaaaa/execute'],
  ['GET', '/configurations'],
  ['GET', '/configurations/hello'],
  ['PUT', '/configurations/hello'],
  ['DELETE', '/configurations/hello'],
  ['GET', '/unknown'],
];

describe('without a right key', () => {
  it('every endpoint but /ping and /metrics answers 401 {error: Unauthorized}, and nothing happens', async () => {
    for (const [method, path] of PROTECTED) {
      const response = await fetch(world.url + path, { method });
      expect([path, response.status]).toEqual([path, 401]);
      expect(response.headers.get('www-authenticate')).toBe('Bearer');
      expect(await response.json()).toEqual(refusal('Unauthorized'));
    }
    expect([world.lifecycles, world.reports, world.written, world.stdin]).toEqual([[], [], [], []]);
    expect(world.instances.size).toBe(2);
  });

  it('malformed authorization headers are refused, each of them', async () => {
    const token = world.admin;
    const malformed = [
      '',
      'Bearer',
      'Bearer ',
      token,
      `Bearer\t${token}`,
      `Bearer ${token} `.concat('x'),
      `Bearer ${token},${token}`,
      `Bearer ${token}, Bearer ${token}`,
      `Bearer "${token}"`,
      `Basic ${token}`,
      `Token ${token}`,
      `Bearer:${token}`,
      `Bearer ${token.slice(0, -1)}`,
      `Bearer ${token}A`,
      `Bearer ${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`,
      `Bearer ${token.slice(0, 10)}${token[10] === 'A' ? 'B' : 'A'}${token.slice(11)}`,
      `Bearer ${token.toLowerCase()}`,
      `Bearer ${token.replace('drv_', 'DRV_')}`,
      `Bearer ${generateToken()}`,
      'Bearer undefined',
      'Bearer null',
      `Bearer ${'A'.repeat(10_000)}`,
      `Bearer __proto__`,
    ];
    for (const authorization of malformed) {
      expect([authorization, await status('/api/instances', { authorization })]).toEqual([
        authorization,
        401,
      ]);
    }
    for (const authorization of [`bearer ${token}`, `Bearer  ${token}`, `BEARER    ${token}`])
      expect([authorization, await status('/api/instances', { authorization })]).toEqual([
        authorization,
        200,
      ]);
    expect(await status('/api/instances', { 'x-api-key': token, cookie: `token=${token}` })).toBe(401);
    expect(await status(`/api/instances?token=${token}&access_token=${token}`)).toBe(401);
  });

  it('two headers are refused, whichever of them is right', async () => {
    const port = world.server.address?.port ?? 0;
    const right = `Authorization: Bearer ${world.admin}`;
    const wrong = `authorization: Bearer ${generateToken()}`;
    const ask = async (...headers: string[]): Promise<number> => {
      const lines = ['GET /api/instances HTTP/1.1', 'Host: x', 'Connection: close', ...headers, '', ''];
      return statusOf(await exchange(port, lines.join('\r\n')));
    };
    expect(await ask(right)).toBe(200);
    expect(await ask(right, wrong)).toBe(401);
    expect(await ask(wrong, right)).toBe(401);
    expect(await ask(right, right.toUpperCase().replace(world.admin.toUpperCase(), world.admin))).toBe(401);
  });

  it('no form of the URL gets past: doubled slashes, dots, case, encoding, parameters, methods', async () => {
    const port = world.server.address?.port ?? 0;
    const targets = [
      '//api/instances',
      '/api//instances',
      '/api/./instances',
      '/api/../api/instances',
      '/api/ping/../instances',
      '/API/instances',
      '/api/Instances',
      '/api/instances/',
      '/api/instances;x',
      '/api/instances;x=/api/ping',
      '/api/instances?/api/ping',
      '/api/instances#/api/ping',
      '/api/%69nstances',
      '/%61pi/instances',
      '/api%2Finstances',
      '/api/instances%00',
      '/api/instances%2f',
      '/api/ping%2f..%2finstances',
      '/api/%2e%2e/api/instances',
      '/api/%zz',
      '/api/instances/%c0%ae',
      'http://127.0.0.1/api/instances',
      'http://x/api/ping/../instances',
      '/api\\instances',
      '*',
      '/',
      '/api',
    ];
    for (const target of targets) {
      for (const method of ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'POST', 'QUERY', 'PROPFIND']) {
        const answer = await exchange(
          port,
          `${method} ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
        );
        // 400: Node's parser does not accept it as HTTP.
        const refusals = ['*', '/'].includes(target) ? [400, 401, NO_DASHBOARD] : [400, 401];
        expect(refusals, `${method} ${target}`).toContain(statusOf(answer));
        expect(answer).not.toContain('aaaaaa');
      }
    }
  });

  it('the open endpoints stay open, whatever the header says', async () => {
    for (const headers of [{}, bearer('nonsense'), bearer(generateToken()), bearer(world.admin)]) {
      expect(await status('/api/ping', headers)).toBe(200);
      expect(await status('/api/metrics', headers)).toBe(200);
    }
  });

  it('is 401 however many refusals came before, for every kind of bad token, and is logged 31 times', async () => {
    const bad = [{}, bearer('nonsense'), bearer(generateToken()), bearer(world.tokens.issue('cccccc', 1))];
    for (let index = 0; index < 200; index++) {
      const refused = await world.server.inject({
        url: '/api/instances',
        headers: bad[index % bad.length] ?? {},
      });
      expect([index, refused.statusCode, refused.json()]).toEqual([
        index,
        401,
        { error: 'Unauthorized', code: 'DRV_KEY_REFUSED' },
      ]);
    }
    expect(await status('/api/instances', bearer(world.admin))).toBe(200);
    const logged = world.log.filter(({ msg }) => String(msg).startsWith('refused authentication'));
    expect(logged).toHaveLength(31);
    expect(String(logged.at(-1)?.msg)).toContain('further ones are not logged until they pause');
    await world.clock.advance(2000);
    await status('/api/instances');
    expect(world.log.filter(({ msg }) => String(msg).startsWith('refused authentication'))).toHaveLength(32);
  });
});

describe('a client with a whole network of IPv6 addresses', () => {
  it('has one limit of log lines for all of them', async () => {
    for (let host = 1; host <= 60; host++) {
      const request = { url: '/api/instances', remoteAddress: `2001:db8::${host.toString(16)}` };
      expect((await world.server.inject(request)).statusCode).toBe(401);
    }
    const logged = () => world.log.filter(({ msg }) => String(msg).startsWith('refused authentication'));
    expect(logged()).toHaveLength(31);
    await world.server.inject({ url: '/api/instances', remoteAddress: '2001:db8:0:1::1' });
    expect(logged()).toHaveLength(32);
  });
});

describe('with a right key', () => {
  it('what does not exist answers 404, and a method that is not offered 405 with Allow, as {error}', async () => {
    for (const path of ['/nothing', '/instances/aaaaaa/nothing', '/../etc/passwd', '/%2e%2e/x']) {
      const response = await world.call('GET', path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.json()).toEqual(refusal('there is no such endpoint'));
    }
    expect(await status('//api/instances', bearer(world.admin))).toBe(404);
    const response = await world.call('PATCH', '/instances');
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, POST, HEAD']);
    expect(await response.json()).toEqual(refusal('this endpoint takes only GET, POST, HEAD'));
    const bad = await world.call('GET', '/%zz');
    expect([bad.status, await bad.json()]).toEqual([
      400,
      refusal(expect.stringContaining('percent-encoding')),
    ]);
  });

  it('revocation works with the next request', async () => {
    const token = await world.addKey('short', 'ALL');
    expect(await status('/api/instances', bearer(token))).toBe(200);
    await world.removeKey('short');
    expect(await status('/api/instances', bearer(token))).toBe(401);
  });

  it('a label that gets a new token stops honouring the old one', async () => {
    const old = await world.addKey('ci', 'ALL');
    const fresh = await world.addKey('ci', 'ALL');
    expect(await status('/api/instances', bearer(old))).toBe(401);
    expect(await status('/api/instances', bearer(fresh))).toBe(200);
  });
});

describe('a PUBLIC key', () => {
  it('is refused with 401 on every endpoint that needs ALL', async () => {
    const token = await world.addKey('site', 'PUBLIC');
    for (const [method, path] of PROTECTED) {
      expect([path, (await world.call(method, path, undefined, token)).status]).toEqual([path, 401]);
    }
    expect(world.instances.size).toBe(2);
  });

  it('has 100 calls in any 60 s, open endpoints included, then 429; ALL keys have no limit', async () => {
    const token = await world.addKey('site', 'PUBLIC');
    for (let index = 0; index < 99; index++) expect(await status('/api/ping', bearer(token))).toBe(200);
    await world.clock.advance(30_000);
    expect(await status('/api/instances', bearer(token))).toBe(401);
    const refused = await world.server.inject({ url: '/api/ping', headers: bearer(token) });
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toEqual({
      ...refusal('Rate limit exceeded. Retry after 30000ms.', 'DRV_RATE_LIMITED'),
      retryAfterMs: 30_000,
    });
    expect(refused.headers['retry-after']).toBe('30');
    expect(await status('/api/instances', bearer(token))).toBe(429);
    await world.clock.advance(30_000);
    expect(await status('/api/ping', bearer(token))).toBe(200);
    for (let index = 0; index < 150; index++)
      expect(await status('/api/node/config', bearer(world.admin))).toBe(200);
  });

  it('reaches an endpoint of scope PUBLIC, which instance tokens do not', async () => {
    const gate = new Gate(
      given<ApiDependencies>({
        keys: world.keys,
        sessions: world.sessions,
        keyWrites: world.keyWrites,
        sessionWrites: world.sessionWrites,
        instances: world.instances,
        isReady: () => true,
        verifyInstanceToken: (token) => world.tokens.verify(token),
        audit: world.audit,
        logger: pino({ level: 'silent' }),
        clock: world.clock,
      }),
    );
    const server = fastify();
    server.decorateRequest('actor', null);
    server.addHook('onRequest', (request, reply, done) => {
      if (gate.admit(request, reply, request.routeOptions.config)) done();
    });
    server.get('/public', { config: { scope: 'PUBLIC' } }, ({ actor }) => actor && actorLabel(actor));
    const token = await world.addKey('site', 'PUBLIC');
    const ask = (headers: Record<string, string>) => server.inject({ url: '/public', headers });
    expect((await ask(bearer(token))).body).toBe('site');
    expect((await ask(bearer(world.admin))).statusCode).toBe(200);
    expect((await ask(bearer(world.tokens.issue('aaaaaa', 1000)))).statusCode).toBe(401);
    expect((await ask({})).statusCode).toBe(401);
    await gate.close();
    await server.close();
  });
});

describe('an instance token', () => {
  it('may PUT the state of its own instance and nothing else', async () => {
    const token = world.tokens.issue('aaaaaa', 1000);
    const put = (id: string) => world.call('PUT', `/instances/${id}/state`, { state: 'ONLINE' }, token);
    expect((await put('aaaaaa')).status).toBe(200);
    expect((await put('bbbbbb')).status).toBe(401);
    expect((await put('%61aaaaa')).status).toBe(200);
    for (const [method, path] of PROTECTED.filter(([, path]) => !path.endsWith('/state'))) {
      expect([path, (await world.call(method, path, undefined, token)).status]).toEqual([path, 401]);
    }
  });

  it('makes 10 reports in any second, then 429 with the time to wait; other callers are not held up', async () => {
    const put = (id: string, token: string) =>
      world.call('PUT', `/instances/${id}/state`, { state: 'ONLINE' }, token);
    const token = world.tokens.issue('aaaaaa', 1000);
    const statuses: number[] = [];
    for (let report = 0; report < 10; report++) {
      statuses.push((await put('aaaaaa', token)).status);
      await world.clock.advance(50);
    }
    expect(statuses).toEqual(Array(10).fill(200));
    const refused = await put('aaaaaa', token);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
    expect(await refused.json()).toEqual({
      ...refusal('Rate limit exceeded. Retry after 500ms.', 'DRV_RATE_LIMITED'),
      retryAfterMs: 500,
    });
    expect(world.reports).toHaveLength(10);
    expect((await put('bbbbbb', world.tokens.issue('bbbbbb', 1000))).status).toBe(200);
    for (let report = 0; report < 20; report++) expect((await put('aaaaaa', world.admin)).status).toBe(200);
    await world.clock.advance(500);
    expect([(await put('aaaaaa', token)).status, (await put('aaaaaa', token)).status]).toEqual([200, 429]);
  });

  it('dies with its instance, also when the id is used again', async () => {
    const token = world.tokens.issue('aaaaaa', 1000);
    const put = () => world.call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE' }, token);
    await world.dropInstance('aaaaaa');
    expect((await put()).status).toBe(401);
    await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 2000 }));
    expect((await put()).status).toBe(401);
  });
});

describe('the gate', () => {
  it('lets no route register that does not say who may call it', async () => {
    const server = fastify();
    server.addHook('onRoute', requireScope);
    expect(() => server.get('/free', () => 'x')).toThrow('route /free declares no scope');
    await server.close();
  });

  it('answers 503 with Retry-After until the state is loaded, never an empty list', async () => {
    world.isReady = false;
    const ofState = PROTECTED.filter(([, path]) => !/^\/(?:node(?:\/|$)|unknown)/.test(path));
    for (const [method, path] of ofState) {
      const response = await world.call(method, path);
      expect([path, response.status, response.headers.get('retry-after')]).toEqual([path, 503, '1']);
      expect(await response.json()).toEqual(refusal(expect.stringContaining('loading')));
    }
    expect(await status('/api/instances')).toBe(401);
    expect(await status('/api/ping')).toBe(200);
    expect(await status('/api/metrics')).toBe(200);
    world.isReady = true;
    expect(await status('/api/instances', bearer(world.admin))).toBe(200);
  });
});
