/** The limit of PUBLIC keys: which calls count, and the answer to the hundred and first. */

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { exchange, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';
import { SocketClient } from '../../support/api/socket-client.js';

const LIMIT = 100;
let world: ApiWorld;
let token: string;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
  token = await world.addKey('site', 'PUBLIC');
});
afterEach(() => world.stop());

const ping = async (key = token): Promise<number> =>
  (await world.server.inject({ url: '/api/ping', headers: { authorization: `Bearer ${key}` } })).statusCode;
const raw = (line: string, more: readonly string[] = []): Promise<string> =>
  exchange(
    world.server.address?.port ?? 0,
    `${[line, 'Host: x', `Authorization: Bearer ${token}`, 'Connection: close', ...more].join('\r\n')}\r\n\r\n`,
  );

/** Returns how many calls the key had left. It uses them all. */
async function callsLeft(): Promise<number> {
  let left = 0;
  while ((await ping()) === 200) left++;
  return left;
}

describe('each call that carries a PUBLIC key counts', () => {
  const calls: Record<string, () => Promise<unknown>> = {
    'to /ping': () => ping(),
    'to /metrics': () => raw('GET /api/metrics HTTP/1.1'),
    'to /metrics by HEAD': () => raw('HEAD /api/metrics HTTP/1.1'),
    'to the description of the API': () => raw('GET /api/openapi.json HTTP/1.1'),
    'to an endpoint that needs ALL': () => raw('GET /api/instances HTTP/1.1'),
    'that would write': () => raw('DELETE /api/instances/aaaaaa HTTP/1.1'),
    'with a body that is refused': () => raw('POST /api/instances HTTP/1.1', ['Content-Length: 2000000']),
    'to no endpoint': () => raw('GET /api/nothing HTTP/1.1'),
    'outside of /api': () => raw('GET /nothing HTTP/1.1'),
    'by a method that the path does not take': () => raw('DELETE /api/instances HTTP/1.1'),
    'with a URL that is none': () => raw('GET /api/%zz HTTP/1.1'),
    'that offers h2c': () =>
      raw('GET /api/ping HTTP/1.1', [
        'Connection: Upgrade, HTTP2-Settings',
        'Upgrade: h2c',
        'HTTP2-Settings: AA',
      ]),
    'that asks for a WebSocket': () => SocketClient.refusal(`${world.url}/console`, { token }),
    'that asks for a WebSocket, key as a subprotocol': () =>
      SocketClient.refusal(`${world.url}/console`, {
        protocols: [
          'drover',
          `base64url.bearer.authorization.drover.${Buffer.from(token).toString('base64url')}`,
        ],
      }),
  };
  for (const [name, call] of Object.entries(calls)) {
    it(name, async () => {
      await call();
      expect(await callsLeft()).toBe(LIMIT - 1);
    });
  }
});

describe('over 100 calls in 60 s', () => {
  it('every call is answered 429 with retryAfterMs and Retry-After, whatever it asks for', async () => {
    await callsLeft();
    await world.clock.advance(20_000);
    const lines = [
      'GET /api/ping',
      'GET /api/metrics',
      'GET /api/instances',
      'POST /api/node/reload',
      'GET /api/nothing',
    ];
    for (const line of lines) {
      const answer = await raw(`${line} HTTP/1.1`);
      expect([line, statusOf(answer)]).toEqual([line, 429]);
      expect(answer).toMatch(/^retry-after: 40\r$/im);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toEqual({
        ...refusal('Rate limit exceeded. Retry after 40000ms.', 'DRV_RATE_LIMITED'),
        retryAfterMs: 40_000,
      });
    }
  });

  it('the window slides: a call is free again 60 s after it was made, and refused ones do not count', async () => {
    expect(await callsLeft()).toBe(100);
    await world.clock.advance(59_999);
    expect(await ping()).toBe(429);
    await world.clock.advance(1);
    expect(await callsLeft()).toBe(100);
    await world.clock.advance(30_000);
    expect(await ping()).toBe(429);
  });

  it('other PUBLIC keys, ALL keys and calls without a key are not held up', async () => {
    await callsLeft();
    const other = await world.addKey('other', 'PUBLIC');
    expect(await ping(other)).toBe(200);
    expect((await fetch(`${world.url}/ping`)).status).toBe(200);
    for (let call = 0; call < 250; call++) expect(await ping(world.admin)).toBe(200);
  });

  it('a key that is deleted and made again begins anew', async () => {
    await callsLeft();
    await world.removeKey('site');
    token = await world.addKey('site', 'PUBLIC');
    expect(await callsLeft()).toBe(100);
  });
});
