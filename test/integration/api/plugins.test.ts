/** The requests of game plugins in use: other names of endpoints, empty bodies, numbers as text, a slash too many. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ApiWorld, instanceRecord, instanceStatus } from '../../support/api/api-world.js';
import { exchange, statusOf } from '../../support/api/raw-http.js';
import { refusal } from '../../support/api/refusal.js';

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
});
afterEach(() => world.stop());

const call = async (method: string, path: string, body?: unknown) => {
  const response = await world.call(method, path, body);
  return { status: response.status, body: await response.json() };
};
const unknown = { status: 404, body: refusal(expect.stringContaining('there is no')) };

describe('POST /instances/{id}/stop', () => {
  it.each([undefined, '', '{}', '{"force":true}'])(
    'stops as lifecycle does, with the body %j',
    async (body) => {
      expect(await call('POST', '/instances/aaaaaa/stop', body)).toEqual({
        status: 200,
        body: { message: 'instance aaaaaa: stop requested', instanceId: 'aaaaaa', target: 'stop' },
      });
      expect(world.lifecycles).toEqual([{ id: 'aaaaaa', target: 'stop' }]);
      expect(await call('PATCH', '/instances/aaaaaa/lifecycle?target=stop')).toEqual(
        await call('POST', '/instances/aaaaaa/stop'),
      );
    },
  );

  it('answers 404 for an instance that is not there or being removed', async () => {
    for (const id of ['zzzzzz', 'AAAAAA', 'x', '..%2Faaaaaa'])
      expect(await call('POST', `/instances/${id}/stop`)).toEqual(unknown);
    await world.call('DELETE', '/instances/aaaaaa');
    expect(await call('POST', '/instances/aaaaaa/stop')).toEqual(unknown);
    expect(world.lifecycles).toEqual([]);
  });

  it('is taken in chunks and without any content type too', async () => {
    const head = [
      'POST /api/instances/aaaaaa/stop HTTP/1.1',
      'Host: x',
      `Authorization: Bearer ${world.admin}`,
      'Connection: close',
    ];
    const port = world.server.address?.port ?? 0;
    const chunked = [
      ...head,
      'Content-Type: application/json',
      'Transfer-Encoding: chunked',
      '',
      '0',
      '',
      '',
    ];
    expect(statusOf(await exchange(port, chunked.join('\r\n')))).toBe(200);
    expect(statusOf(await exchange(port, [...head, 'Content-Length: 0', '', ''].join('\r\n')))).toBe(200);
    expect(world.lifecycles).toHaveLength(2);
  });
});

describe('POST /instances/{id}/command', () => {
  it('writes to standard input as execute does, with the same answer', async () => {
    const answer = await call('POST', '/instances/aaaaaa/command', { command: 'say hi' });
    expect(answer).toEqual({
      status: 200,
      body: { message: 'command sent to instance aaaaaa', instanceId: 'aaaaaa', command: 'say hi' },
    });
    expect(await call('POST', '/instances/aaaaaa/execute', { command: 'say hi' })).toEqual(answer);
    expect(world.stdin.map(({ bytes }) => bytes.toString())).toEqual(['say hi\n', 'say hi\n']);
  });

  it('answers 404, 409 and 400 as execute does', async () => {
    await world.putInstance(instanceRecord({ id: 'bbbbbb', status: instanceStatus('STOPPED') }));
    for (const name of ['command', 'execute']) {
      expect(await call('POST', `/instances/zzzzzz/${name}`, { command: 'x' })).toEqual(unknown);
      expect((await call('POST', `/instances/bbbbbb/${name}`, { command: 'x' })).status).toBe(409);
      expect((await call('POST', `/instances/aaaaaa/${name}`, {})).status).toBe(400);
    }
    expect(world.stdin).toEqual([]);
  });
});

describe('PUT /instances/{id}/state', () => {
  const reported = async (numbers: Record<string, unknown>) => {
    world.reports.length = 0;
    const { status } = await call('PUT', '/instances/aaaaaa/state', { state: 'ONLINE', ...numbers });
    const { players, maxPlayers, tps } = world.reports[0]?.report ?? {};
    return { status, players, maxPlayers, tps };
  };

  it('takes players, maxPlayers and tps as numbers and as text', async () => {
    const taken = { status: 200, players: 3, maxPlayers: 20, tps: 19.98 };
    expect(await reported({ players: 3, maxPlayers: 20, tps: 19.98 })).toEqual(taken);
    expect(await reported({ players: '3', maxPlayers: '20', tps: '19.98' })).toEqual(taken);
  });

  it.each([null, '', 'many', '*20.0', '1e999', '0x10', ' 3', '9'.repeat(400), {}, [], true])(
    'leaves out %j, which is no number, and takes the report',
    async (value) => {
      const left = { players: undefined, maxPlayers: undefined, tps: undefined };
      expect(await reported({ players: value, maxPlayers: value, tps: value })).toEqual({
        status: 200,
        ...left,
      });
    },
  );

  it('takes fields that nobody knows', async () => {
    expect(await reported({ motd: 'x', plugins: ['a'], players: 1 })).toMatchObject({
      status: 200,
      players: 1,
    });
  });
});

describe('a slash at the end', () => {
  it('is no other endpoint, and no way around the key', async () => {
    for (const [method, path] of [
      ['GET', '/instances'],
      ['GET', '/instances/aaaaaa'],
      ['POST', '/instances/aaaaaa/stop'],
      ['GET', '/cluster/nodes'],
    ] as const) {
      const plain = await call(method, path);
      expect(await call(method, `${path}/`)).toEqual(plain);
      expect(plain.status).toBe(200);
      expect((await fetch(`${world.url}${path}/`, { method })).status).toBe(401);
    }
    expect((await call('DELETE', '/instances/')).status).toBe(405);
  });
});
