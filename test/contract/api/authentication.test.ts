/** Rows of the API contract: Authentication, Errors and Limits, unless they belong to one endpoint. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { nodeConfigurationSchema } from '../../../src/model/node.js';
import { OpenApiCheck } from '../../support/api/openapi-check.js';
import { apiDocumentSchema } from '../../support/api/openapi-document.js';
import { refusal } from '../../support/api/refusal.js';
import { until } from '../../support/until.js';
import { RowWorld } from './rows.js';

let world: RowWorld;
beforeAll(async () => {
  world = await RowWorld.start((daemon) => {
    daemon.configure('idle', { command: 'exec sleep 1000', minimumServiceCount: 0 });
  });
});
afterAll(() => world.stop());

const UNAUTHORIZED = [401, refusal('Unauthorized')];
const OPEN = ['GET /ping', 'GET /metrics'];
/** Open in Drover beyond the contract: the API's description, which a browser loads before it has a key. */
const OPEN_BEYOND = ['GET /openapi.json', 'POST /sessions/redeem'];

async function run(command: string): Promise<string> {
  const { json } = await world.call('POST /commands/execute', { body: { command } });
  return z.object({ output: z.string() }).parse(json).output;
}

/** Makes a key by console command. Returns its token. */
async function createKey(label: string, scope: 'ALL' | 'PUBLIC'): Promise<string> {
  const token = (await run(`key create ${label} ${scope}`)).match(/drv_[0-9A-Za-z]{36}\b/)?.[0];
  if (token === undefined) throw new Error(`key create ${label} printed no token`);
  return token;
}

async function answerOf(row: string, token: string | null, headers = {}): Promise<[number, unknown]> {
  const { status, json } = await world.call(row, { token, headers });
  return [status, json];
}

/** `METHOD /path` of every operation in the description, with its parameters filled in. */
async function allRows(): Promise<string[]> {
  const { json } = await world.call('GET /openapi.json', { token: null });
  return Object.entries(apiDocumentSchema.parse(json).paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, 'aaaaaa')}`),
  );
}

describe('Authentication', () => {
  it('1. Every endpoint except GET /ping and GET /metrics requires Authorization: Bearer <API_KEY>', async () => {
    // There are more rows than requests that one key may send in a minute.
    const tokens = [await createKey('rows', 'PUBLIC'), await createKey('more-rows', 'PUBLIC')];
    const rows = await allRows();
    expect(rows.length).toBeGreaterThan(30);
    const open: string[] = [];
    for (const [index, row] of rows.entries())
      if ((await world.call(row, { token: tokens[index % 2] ?? null })).status !== 401) open.push(row);
    expect(open.sort()).toEqual([...OPEN, ...OPEN_BEYOND].sort());
    for (const row of OPEN) expect((await world.call(row, { token: null })).status).toBe(200);
    for (const label of ['rows', 'more-rows']) await run(`key delete ${label}`);
  });

  it('1. Without a token every endpoint says 401, however many said it before', async () => {
    const rows = (await allRows()).filter((row) => ![...OPEN, ...OPEN_BEYOND].includes(row));
    const statuses = new Set<number>();
    for (const row of rows) statuses.add((await world.call(row, { token: null })).status);
    expect([rows.length > 60, ...statuses]).toEqual([true, 401]);
    await expect(world.open('/console', { token: null })).rejects.toThrow('401');
    expect(await answerOf('GET /node', null)).toEqual(UNAUTHORIZED);
  });

  it('1. This includes WebSocket handshakes', async () => {
    await expect(world.open('/console', { token: null })).rejects.toThrow('401');
  });

  it('2. Tokens begin with a fixed service-specific prefix', async () => {
    expect(world.adminKey).toMatch(/^drv_/);
    expect(await createKey('prefixed', 'ALL')).toMatch(/^drv_/);
    await run('key delete prefixed');
  });

  it('3. Each key has one scope: ALL may use every endpoint, and has no rate limit', async () => {
    const token = await createKey('operator', 'ALL');
    for (let index = 0; index < 150; index++)
      expect((await world.call('GET /instances', { token })).status).toBe(200);
    await run('key delete operator');
  });

  it('3. No instance endpoint is public: a PUBLIC key gets 401, also on logs', async () => {
    const token = await createKey('site', 'PUBLIC');
    for (const row of ['GET /instances', 'GET /instances/aaaaaa', 'GET /instances/aaaaaa/logs'])
      expect(await answerOf(row, token)).toEqual(UNAUTHORIZED);
    await run('key delete site');
  });

  it('4. A PUBLIC key on write or lifecycle calls gets 401', async () => {
    const token = await createKey('site', 'PUBLIC');
    for (const row of [
      'POST /instances',
      'PATCH /instances/aaaaaa/lifecycle?target=stop',
      'DELETE /configurations/idle',
    ])
      expect(await answerOf(row, token)).toEqual(UNAUTHORIZED);
    expect((await world.call('GET /configurations/idle')).status).toBe(200);
    await run('key delete site');
  });

  it("5. A missing, malformed or invalid token gives 401 {error: 'Unauthorized'}", async () => {
    const valid = world.adminKey;
    for (const token of [
      null,
      '',
      'x',
      valid.slice(1),
      `${valid}x`,
      valid.toLowerCase(),
      `drv_${'A'.repeat(36)}`,
    ])
      expect([token, ...(await answerOf('GET /node', token))]).toEqual([token, ...UNAUTHORIZED]);
    for (const authorization of [valid, `Basic ${valid}`, `Token ${valid}`])
      expect(await answerOf('GET /node', null, { authorization })).toEqual(UNAUTHORIZED);
  });

  it('6. key create <label> <ALL|PUBLIC>: the full token is printed once and cannot be retrieved later', async () => {
    const token = await createKey('once', 'ALL');
    expect(await answerOf('GET /instances', token)).toEqual([200, []]);
    for (const command of ['key list', 'key list -o json', 'key create once ALL'])
      expect(await run(command)).not.toContain(token.slice(4, 20));
    expect(JSON.stringify((await world.call('GET /audit')).json)).not.toContain(token.slice(4, 20));
    await run('key delete once');
  });

  it('6. key list: shows masked tokens only', async () => {
    const listed = await run('key list');
    expect(listed).toMatch(/admin\s+ALL\s+drv_\.\.\./);
    expect(listed).not.toContain(world.adminKey.slice(4, 20));
  });

  it('6. key delete <label>: revokes the key', async () => {
    const token = await createKey('short', 'ALL');
    expect((await world.call('GET /node', { token })).status).toBe(200);
    await run('key delete short');
    // The contract allows 15 s. Drover closes at once.
    expect(await answerOf('GET /node', token)).toEqual(UNAUTHORIZED);
  });

  it('6. key delete <label>: closes the open sockets of that key', async () => {
    const token = await createKey('socket', 'ALL');
    const { closed } = await world.open('/console', { token });
    await run('key delete socket');
    expect((await closed).code).toBeGreaterThanOrEqual(1008);
  });
});

describe('Errors', () => {
  it('An error response is a JSON object with an error string field, whatever is wrong', async () => {
    const rows: [string, number][] = [
      ['GET /nothing', 404],
      ['GET /instances/%zz', 400],
      ['PATCH /instances', 405],
      ['POST /node/reload', 501],
      ['GET /instances/zzzzzz', 404],
      ['GET /instances/zzzzzz/logs?lines=x', 400],
    ];
    for (const [row, expected] of rows) {
      const { status, json, headers } = await world.call(row);
      expect([row, status, json]).toEqual([row, expected, refusal()]);
      expect(headers['content-type']).toBe('application/json; charset=utf-8');
    }
    const broken = await world.call('POST /instances', {
      body: '{"a":',
      headers: { 'content-type': 'application/json' },
    });
    expect([broken.status, broken.json]).toEqual([400, refusal()]);
  });

  it('429: {error: string, retryAfterMs: integer} when a PUBLIC key exceeded its rate window', async () => {
    const token = await createKey('crawler', 'PUBLIC');
    for (let index = 0; index < 100; index++)
      expect((await world.call('GET /ping', { token })).status).toBe(200);
    const { status, json, headers } = await world.call('GET /ping', { token });
    expect(status).toBe(429);
    const { error, retryAfterMs } = z
      .strictObject({ error: z.string(), code: z.literal('DRV_RATE_LIMITED'), retryAfterMs: z.int() })
      .parse(json);
    expect(error).toBe(`Rate limit exceeded. Retry after ${retryAfterMs}ms.`);
    expect(retryAfterMs).toBeGreaterThan(0);
    expect(retryAfterMs).toBeLessThanOrEqual(60_000);
    expect(headers['retry-after']).toBe(String(Math.ceil(retryAfterMs / 1000)));
    await run('key delete crawler');
  });

  it('Every error of the table is declared for its endpoint', () => {
    const check = OpenApiCheck.load();
    const problems = (
      [
        ['POST', '/instances', 400],
        ['PATCH', '/instances/aaaaaa/lifecycle', 400],
        ['POST', '/templates/g/n/sync', 400],
        ['POST', '/cluster/nodes/n', 400],
        ['GET', '/instances', 401],
        ['GET', '/configurations/x', 404],
        ['GET', '/templates/g/n/files/x', 404],
        ['POST', '/templates/g/n/export', 404],
        ['POST', '/templates/g/n/files/x', 409],
        ['POST', '/node/reload', 501],
        ['POST', '/cluster/nodes/n', 501],
      ] as const
    ).map(([method, path, status]) =>
      check.problemOf({
        method,
        url: `/api${path}`,
        status,
        contentType: 'application/json',
        body: '{"error":"x","code":"DRV_X"}',
      }),
    );
    expect(problems.filter((problem) => problem !== undefined)).toEqual([]);
  });
});

describe('Limits', () => {
  it('Public key rate: 100 calls per 60 seconds, on open endpoints and with 401 too, ALL keys exempt', async () => {
    const token = await createKey('mixed', 'PUBLIC');
    for (let index = 0; index < 50; index++) await world.call('GET /ping', { token });
    for (let index = 0; index < 50; index++) await world.call('GET /instances', { token });
    for (const row of ['GET /ping', 'GET /metrics', 'GET /instances', 'GET /nothing'])
      expect((await world.call(row, { token })).status).toBe(429);
    expect((await world.call('GET /instances')).status).toBe(200);
    await run('key delete mixed');
  });

  it('Instance ID length: 6 characters', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 5; index++) {
      const { json } = await world.call('POST /instances', { body: { configurationName: 'idle' } });
      ids.push(z.object({ id: z.string() }).parse(json).id);
    }
    expect(ids.filter((id) => !/^[a-z0-9]{6}$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(5);
    for (const id of ids) await world.call(`DELETE /instances/${id}`);
    await until(async () => expect(await world.daemon.processes.marked()).toEqual([]));
  });

  it('Default ports: 7000 REST, 6000 cluster', async () => {
    const { json } = await world.call('GET /node/config');
    expect(json).toMatchObject({ masterApiPort: 7000, masterPort: 6000 });
    expect(nodeConfigurationSchema.parse({})).toMatchObject({ apiPort: 7000, port: 6000 });
  });
});
