/**
 * What 1 MiB of the worst body costs: for every route with a JSON body, and for plans, whose contents are worked on. The
 * processor time of one turn of the event loop is measured, because other requests wait for so long.
 */
import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { SocketClient } from '../../support/api/socket-client.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { excessOf } from '../../support/cpu-time.js';
import { FakeClock } from '../../support/fake-clock.js';

const MIB = 1024 * 1024;

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(',');
const unknown = (count: number): string => times(count, (index) => `"u${index}":1`);

/** The bodies that take longest to parse. */
const WORST: readonly (readonly [what: string, body: string])[] = [
  ['objects', `[${times(95_000, (index) => `{"${index.toString(36)}":1}`)}]`],
  ['nested lists', '['.repeat(MIB / 2) + ']'.repeat(MIB / 2)],
  ['nested objects', `${'{"a":'.repeat(170_000)}1${'}'.repeat(170_000)}`],
  ['fields', `{${unknown(80_000)}}`],
  [
    'as many fields as may be',
    `{${times(19_900, (index) => `"unknown-field-with-a-long-name-${index}":1`)}}`,
  ],
  ['forbidden keys', `{"a":"__proto__","u":[${times(9000, () => '{"constructor":{"prototypes":1}}')}]}`],
  ['a long text', JSON.stringify('\u00e4"\\'.repeat(150_000))],
  ['no JSON', 'x'.repeat(MIB)],
];

const PLANS: readonly (readonly [what: string, contents: string])[] = [
  ['10,000 contents', times(10_000, (index) => `{"name":"c${index}","command":"x"}`)],
  [
    'unknown fields in each of 8,000 contents',
    times(8000, (index) => `{"name":"c${index}","command":"x",${unknown(9)}}`),
  ],
  ['unknown fields', `{"name":"c","command":"x",${unknown(80_000)}}`],
  [
    'nodes',
    times(15, (index) => `{"name":"c${index}","command":"x","nodes":[${times(4096, (n) => `"n${n}"`)}]}`),
  ],
  [
    'templates',
    times(
      40,
      (index) =>
        `{"name":"c${index}","command":"x","templateInstallationConfig":{"allOf":[${times(
          256,
          (n) => `{"name":"n${n}","group":"g"}`,
        )}]}}`,
    ),
  ],
  [
    'variables',
    times(500, (index) => `{"name":"c${index}","command":"x","stopCommand":"${'%a%'.repeat(600)}"}`),
  ],
];

let world: ApiWorld;
let plane: ControlPlane;
const agent = new Agent({ keepAlive: true });

beforeAll(async () => {
  world = await new ApiWorld().start();
  // Its look at each answer would be measured, too.
  world.answers.stop();
  await world.server.start();
  await world.addConfiguration('hello');
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
  plane = new ControlPlane({ clock: new FakeClock() });
  await plane.start();
  for (const nodeId of ['a', 'b', 'c']) await plane.addNode(nodeId);
  world.forecast = (contents) => plane.master.led().controllers.forecaster.forecast(contents);
});
afterAll(async () => {
  agent.destroy();
  await world.stop();
  await plane.stop();
});

/** Sends a body. Resolves with the status, when the whole answer is here. */
function send(method: string, path: string, body: Buffer = Buffer.alloc(0)): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${world.admin}`,
      'content-type': 'application/json',
      'content-length': body.length,
    };
    const call = request(`${world.url}${path}`, { method, headers, agent }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    call.on('error', reject);
    call.end(body);
  });
}

const PARAMS: Readonly<Record<string, string>> = { id: 'aaaaaa', name: 'hello', group: 'games' };
const routes = new ApiWorld().server.routes
  .filter(({ method, bodyTypes }) => method !== 'GET' && bodyTypes === undefined)
  .map(({ method, path }) => ({
    method,
    path: path.replace(/:(\w+)/g, (_all, name) => PARAMS[name] ?? 'x'),
  }));

describe.each(WORST)('a body of 1 MiB with %s', (_what, text) => {
  const body = Buffer.from(text).subarray(0, MIB);

  test('holds the loop for less than 50 ms, whatever route it is sent to', async () => {
    const costly: object[] = [];
    for (const { method, path } of routes) {
      const excess = await excessOf(() => send(method, path, body));
      if (excess !== undefined) costly.push({ method, path, excess });
    }
    expect(costly).toEqual([]);
  });
});

test('the answer to a body with unknown fields names a few of them', async () => {
  const answer = await world.call('POST', '/configurations/hello/rollback', `{${unknown(19_900)}}`);
  expect(answer.status).toBe(400);
  const text = await answer.text();
  expect(text).toContain('body field u2: unknown field; known fields: to, reason (and 19897 more)');
  expect(text.length).toBeLessThan(1000);
});

describe.each(PLANS)('a plan of 1 MiB with %s', (_what, contents) => {
  const body = Buffer.from(`{"configurations":[${contents}]}`);

  test('takes a second at most, in turns of less than 50 ms', async () => {
    expect(body.length).toBeLessThanOrEqual(MIB);
    expect(await excessOf(() => send('POST', '/plan', body))).toBeUndefined();
  });
});

test('others are answered while 10,000 contents are planned', async () => {
  const [[, contents] = ['', '']] = PLANS;
  const ends: string[] = [];
  const planned = send('POST', '/plan', Buffer.from(`{"configurations":[${contents}]}`));
  await Promise.all([
    planned.then(() => ends.push('plan')),
    send('GET', '/ping').then(() => ends.push('ping')),
  ]);
  expect(ends).toEqual(['ping', 'plan']);
});

test('a message of a WebSocket holds the loop for less than 50 ms', async () => {
  const KIB = 1024;
  for (const message of [
    `{${unknown(6000)}}`,
    `{"subscribe":"instances","filter":{"configuration":[${'1,'.repeat(31 * KIB)}1]}}`,
    '['.repeat(63 * KIB),
  ]) {
    const client = await SocketClient.open(`${world.url}/watch`, { token: world.admin });
    const excess = await excessOf(async () => {
      const before = client.texts.length;
      client.websocket.send(message);
      await expect.poll(() => client.texts.length, { interval: 1 }).toBeGreaterThan(before);
    });
    client.websocket.terminate();
    expect(excess).toBeUndefined();
  }
});
