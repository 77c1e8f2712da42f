/** Codes with which a browser signs in: one use, one minute, never more than their key, and gone with it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { DroverError } from '../../../src/model/errors.js';
import { ApiWorld } from '../../support/api/api-world.js';

const madeSchema = z.object({ code: z.string(), expiresAt: z.number() });
const sessionSchema = z.looseObject({ id: z.string(), token: z.string() });

let directory: string;
let world: ApiWorld;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'drover-dashboard-'));
  writeFileSync(join(directory, 'index.html'), '<head></head>');
});
afterAll(() => rmSync(directory, { recursive: true }));
beforeEach(async () => {
  world = await new ApiWorld({ dashboard: directory }).start();
  await world.server.start();
});
afterEach(() => world.stop());

async function makeCode(key = world.admin) {
  const response = await world.call('POST', '/sessions/codes', {}, key);
  expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
  return madeSchema.parse(await response.json());
}

/** Without a key. */
const redeem = (code: string) =>
  fetch(`${world.url}/sessions/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });

it('a code becomes a session of its key once, and both are in the audit trail without the code', async () => {
  const key = await world.addKey('ci', 'OPERATE', { configurations: ['he*'] });
  const { code, expiresAt } = await makeCode(key);
  expect(expiresAt).toBe(world.clock.now() + 60_000);
  const response = await redeem(code);
  expect([response.status, response.headers.get('cache-control')]).toEqual([201, 'no-store']);
  const session = sessionSchema.parse(await response.json());
  expect(session).toMatchObject({ key: 'ci', scope: 'OPERATE', configurations: ['he*'] });
  const whoami = await (await world.call('GET', '/whoami', undefined, session.token)).json();
  expect(whoami).toMatchObject({ key: 'ci', session: session.id });
  expect((await redeem(code)).status).toBe(401);
  const trail = world.audit.entries.map(({ key: by, action, subject, result }) => [
    by,
    action,
    subject,
    result,
  ]);
  expect(trail).toEqual([
    ['ci', 'POST /sessions/codes', null, '201'],
    ['ci', 'POST /sessions/redeem', session.id, '201'],
    [null, 'POST /sessions/redeem', null, '401'],
  ]);
  expect(JSON.stringify([world.audit.entries, world.log])).not.toContain(code);
});

it('a code ends after a minute, with its key, and when its key changes', async () => {
  const late = await makeCode();
  await world.clock.advance(60_000);
  expect((await redeem(late.code)).status).toBe(401);
  const gone = await makeCode(await world.addKey('gone', 'ALL'));
  await world.removeKey('gone');
  await world.addKey('gone', 'ALL');
  expect((await redeem(gone.code)).status).toBe(401);
  const other = await makeCode(await world.addKey('other', 'ALL'));
  await world.addKey('other', 'READ');
  expect((await redeem(other.code)).status).toBe(401);
});

it('a code is good again when its session could not be stored, and then once', async () => {
  const { code } = await makeCode();
  const { store } = world;
  const transact = store.transact.bind(store);
  store.transact = () => Promise.reject(new DroverError('DRV_STORE_WRITE_FAILED', 'the disk is full'));
  expect((await redeem(code)).status).toBe(507);
  store.transact = transact;
  const both = await Promise.all([redeem(code), redeem(code)]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 401]);
  expect((await redeem(code)).status).toBe(401);
});

it('a session makes no codes, and a key no more than 20 at once: the oldest ends', async () => {
  const first = await makeCode();
  const session = sessionSchema.parse(await (await redeem((await makeCode()).code)).json());
  const refused = await world.call('POST', '/sessions/codes', {}, session.token);
  expect([refused.status, await refused.text()]).toEqual([
    400,
    expect.stringContaining('not with a session'),
  ]);
  const second = await makeCode();
  for (let count = 0; count < 19; count++) await makeCode();
  expect((await redeem(first.code)).status).toBe(401);
  expect((await redeem(second.code)).status).toBe(201);
});

it('guesses are 401 however many came before, and do not stand in the way of a right code', async () => {
  const { code } = await makeCode();
  const statuses = new Set<number>();
  for (let guess = 0; guess < 31; guess++) statuses.add((await redeem(`guess${guess}`)).status);
  expect([...statuses]).toEqual([401]);
  expect((await world.call('GET', '/node', undefined, 'x'.repeat(40))).status).toBe(401);
  expect((await redeem(code)).status).toBe(201);
});

it('a code of a key that is restricted to addresses works from there only, and is not used up elsewhere', async () => {
  const key = await world.addKey('office', 'ALL', { from: ['10.0.0.0/8'] });
  const post = (path: string, remoteAddress: string, payload: object, authorization = {}) =>
    world.server.inject({
      method: 'POST',
      url: `/api${path}`,
      remoteAddress,
      payload,
      headers: authorization,
    });
  const made = await post('/sessions/codes', '10.0.0.1', {}, { authorization: `Bearer ${key}` });
  const { code } = madeSchema.parse(made.json());
  expect((await post('/sessions/redeem', '11.0.0.1', { code })).statusCode).toBe(401);
  expect((await post('/sessions/redeem', '10.0.0.2', { code })).statusCode).toBe(201);
});
