/**
 * Rows of docs/api.md, "Beyond the contract": the API can do what the commands can. Each test is named after its
 * row.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { rolloutKey } from '../../../src/store/keys.js';
import { OpenApiCheck } from '../../support/api/openapi-check.js';
import { refusal } from '../../support/api/refusal.js';
import { OperationsWorld } from '../../support/control-plane/operations-world.js';
import { rolloutRecord } from '../../support/control-plane/records.js';
import { REPOSITORY } from '../../support/repository-root.js';
import { until } from '../../support/until.js';

const DOCUMENT = join(REPOSITORY, 'docs/api.md');
const anError = refusal();

let world: OperationsWorld;
beforeEach(async () => {
  world = await OperationsWorld.create();
});
afterEach(() => world.stop());

async function oneInstance(): Promise<string> {
  await world.commands.configure('lobby', { minimumServiceCount: 1 });
  const [record] = await world.commands.untilOnline('lobby', 1);
  return record?.id ?? expect.fail('there is no instance');
}

/** The id of a directory that a static instance of lobby has left. */
async function leftDirectory(): Promise<string> {
  await world.commands.configure('lobby', { static: true });
  await printed('instance create lobby');
  const [{ id } = expect.fail('there is no instance')] = await world.commands.untilOnline('lobby', 1);
  await printed(`instance delete ${id}`);
  await until(async () =>
    expect(await printed('instance list --left')).toMatchObject({ directories: [{ id }] }),
  );
  return id;
}

/** What a command prints as JSON. */
const printed = (line: string) => world.commands.json(line);
const nodeOf = async (id: string) => (await world.call(`GET /cluster/nodes/${id}`)).json;

describe('Nodes', () => {
  it('PUT /cluster/nodes/{id}/cordon: 200 {message, nodeId}; the node gets no new instances; repeatable', async () => {
    const first = await world.call('PUT /cluster/nodes/alpha/cordon');
    expect([first.status, first.json]).toMatchObject([200, { message: expect.any(String), nodeId: 'alpha' }]);
    expect(await nodeOf('alpha')).toMatchObject({ cordoned: true, drain: null });
    expect((await world.call('PUT /cluster/nodes/alpha/cordon')).json).toEqual(first.json);
    expect(world.audit[0]).toEqual({
      key: 'boss',
      action: 'PUT /cluster/nodes/:id/cordon',
      subject: 'alpha',
      result: '200',
    });
  });

  it('DELETE /cluster/nodes/{id}/cordon: 200 {message, nodeId}; a drain is called off; repeatable', async () => {
    await world.call('PUT /cluster/nodes/alpha/drain');
    const first = await world.call('DELETE /cluster/nodes/alpha/cordon');
    expect([first.status, first.json]).toMatchObject([200, { message: expect.any(String), nodeId: 'alpha' }]);
    expect(await nodeOf('alpha')).toMatchObject({ cordoned: false, drain: null });
    expect((await world.call('DELETE /cluster/nodes/alpha/cordon')).status).toBe(200);
  });

  it('PUT /cluster/nodes/{id}/drain: body {deadlineSeconds?}, 200 {nodeId, drain}; again: with another deadline', async () => {
    const id = await oneInstance();
    await world.commands.plane.master.writer.reportState(id, { state: 'ONLINE', players: 2 });
    const drained = async (body?: unknown) => {
      const { json } = await world.call('PUT /cluster/nodes/alpha/drain', { body });
      return z
        .object({ nodeId: z.literal('alpha'), drain: z.object({ since: z.number(), deadline: z.number() }) })
        .parse(json).drain;
    };
    const byDefault = await drained();
    expect(byDefault.deadline - byDefault.since).toBe(600_000);
    const asked = await drained({ deadlineSeconds: 90 });
    expect(asked.deadline - asked.since).toBe(90_000);
    expect(await nodeOf('alpha')).toMatchObject({
      cordoned: true,
      drain: { left: 1, deadline: asked.deadline },
    });
    const now = await drained({ deadlineSeconds: 0 });
    expect(now.deadline).toBe(now.since);
  });

  it('PUT /cluster/nodes/{id}/drain: 400 for a deadline beyond 0 to 2592000, as the command says', async () => {
    for (const deadlineSeconds of [-1, 2_592_001, 1.5, '90']) {
      const { status } = await world.call('PUT /cluster/nodes/alpha/drain', { body: { deadlineSeconds } });
      expect(status, String(deadlineSeconds)).toBe(400);
    }
    expect(await world.commands.run('cluster drain alpha --deadline 31d')).toContain('30d at most');
    expect(await nodeOf('alpha')).toMatchObject({ cordoned: false, drain: null });
  });

  it('DELETE /cluster/nodes/{id}: 409 without force while it is connected, 200 {nodeId, instances, statics} with it', async () => {
    await world.commands.plane.addNode('beta');
    const refused = await world.call('DELETE /cluster/nodes/beta');
    expect([refused.status, refused.json]).toEqual([409, anError]);
    const forgotten = await world.call('DELETE /cluster/nodes/beta?force=true');
    expect([forgotten.status, forgotten.json]).toEqual([200, { nodeId: 'beta', instances: [], statics: [] }]);
    expect(world.audit.map(({ subject, result }) => [subject, result])).toEqual([
      ['beta', '409'],
      ['beta force', '200'],
    ]);
  });

  it('DELETE /cluster/nodes/{id}: 400 for a force that is neither true nor false', async () => {
    expect((await world.call('DELETE /cluster/nodes/alpha?force=yes')).status).toBe(400);
  });

  it('GET /cluster/nodes/{id}/why: 200, why the node stands as it does', async () => {
    const id = await oneInstance();
    const { status, json } = await world.call('GET /cluster/nodes/alpha/why');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      nodeId: 'alpha',
      verdict: 'alpha is connected and holds 1 instance, which is as wanted.',
      isSettled: true,
      usedRamMB: 100,
      instances: [{ instanceId: id, configurationName: 'lobby', state: 'ONLINE', isSettled: true }],
      instancesTotal: 1,
    });
  });

  it.each([
    'PUT /cluster/nodes/nope/cordon',
    'DELETE /cluster/nodes/nope/cordon',
    'PUT /cluster/nodes/nope/drain',
    'DELETE /cluster/nodes/nope?force=true',
    'GET /cluster/nodes/nope/why',
  ])('%s: 404 for an unknown node', async (row) => {
    const { status, json } = await world.call(row);
    expect([status, json]).toEqual([404, refusal('there is no node "nope": "cluster nodes" shows all')]);
  });
});

describe('Cluster', () => {
  it('GET /cluster/status: 200, what stands and what is wrong', async () => {
    await oneInstance();
    await world.commands.configure('large', { minimumServiceCount: 1, ramMB: 5000 });
    await until(() =>
      expect(world.commands.plane.records().some(({ status }) => status.reason === 'no-node-fits')).toBe(
        true,
      ),
    );
    world.commands.writeFile('broken.json', '{');
    await world.commands.run('config reload');
    const { status, json } = await world.call('GET /cluster/status');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      clusterName: 'test',
      nodes: { connected: 1 },
      drains: [],
      instances: { ONLINE: 1, CREATING: 1 },
      configurations: 2,
      belowMinimum: [{ name: 'large', online: 0, minimum: 1, why: expect.stringContaining('large') }],
      brokenFiles: [{ file: 'broken.json', line: 1 }],
      unreadableRecords: [],
    });
  });

  it('GET /cluster/configurations: 200, the configurations of config list', async () => {
    await oneInstance();
    const { status, json } = await world.call('GET /cluster/configurations');
    expect(status).toBe(200);
    expect(json).toMatchObject([
      {
        name: 'lobby',
        online: 1,
        instances: 1,
        minimum: 1,
        file: 'lobby.json',
        isFileBroken: false,
        inGit: null,
      },
    ]);
  });

  it('POST /cluster/tokens: 201 with the token, this once; default: a day, any number of nodes', async () => {
    const { status, json, headers } = await world.call('POST /cluster/tokens');
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    const created = z.object({ id: z.string(), token: z.string() }).parse(json);
    expect(json).toMatchObject({ maxUses: null, master: '127.0.0.1:6000', clusterName: 'test' });
    const { json: listed } = await world.call('GET /cluster/tokens');
    expect(listed).toMatchObject([{ id: created.id, label: null, isExpired: false, uses: 0 }]);
    const [{ createdAt, expiresAt } = expect.fail('no token')] = z
      .array(z.object({ createdAt: z.number(), expiresAt: z.number() }))
      .parse(listed);
    expect(expiresAt - createdAt).toBe(86_400_000);
    expect(JSON.stringify(listed)).not.toContain(created.token);
    expect(world.audit[0]).toEqual({
      key: 'boss',
      action: 'POST /cluster/tokens',
      subject: created.id,
      result: '201',
    });
  });

  it('POST /cluster/tokens: label, expiry and uses as asked for; 400 for what the command refuses too', async () => {
    const body = { label: 'rack-7', expiresInSeconds: null, maxUses: 3 };
    expect(await world.call('POST /cluster/tokens', { body })).toMatchObject({
      status: 201,
      json: { expiresAt: null, maxUses: 3 },
    });
    for (const bad of [{ expiresInSeconds: 0 }, { maxUses: 0 }, { maxUses: 100_001 }, { label: 'no blanks' }])
      expect((await world.call('POST /cluster/tokens', { body: bad })).status, JSON.stringify(bad)).toBe(400);
    expect(await world.commands.run('cluster token create --uses 100001')).toContain('from 1 to 100000');
  });

  it('GET /cluster/removed-configurations: 200, those of config list', async () => {
    const { status, json } = await world.call('GET /cluster/removed-configurations');
    expect([status, json]).toEqual([200, []]);
    await world.commands.configure('lobby', { ramMB: 100 });
    const { store, configurations, overrides } = world.commands.plane.master.state;
    const file = configurations.get('lobby')?.value;
    const value = { is: 'absent', file, mark: { by: 'ops', at: 1, reason: null } };
    await world.call('DELETE /configurations/lobby');
    await overrides.until(await store.transact([{ do: 'create', key: 'overrides/lobby', value }]));
    expect((await world.call('GET /cluster/removed-configurations')).json).toEqual([
      { name: 'lobby', instances: 0, file: 'lobby.json' },
    ]);
    expect(await world.commands.run('config list')).toContain(
      'lobby: 0 instances; lobby.json still has it: "config reset lobby" brings it back',
    );
    await store.transact([{ do: 'remove', key: 'overrides/lobby' }]);
  });

  it('GET /cluster/left-directories: 200 {directories, silent}, within the reach of the key', async () => {
    const id = await leftDirectory();
    const { status, json } = await world.call('GET /cluster/left-directories');
    expect([status, json]).toMatchObject([
      200,
      { directories: [{ id, nodeId: 'alpha', configurationName: 'lobby' }], silent: [] },
    ]);
    const seen = async (pattern: string) => {
      const key = `key create ${pattern} READ --configurations ${pattern}`;
      const { token } = z.object({ token: z.string() }).parse(await printed(key));
      return (await world.call('GET /cluster/left-directories', { token })).json;
    };
    expect(await seen('lobby')).toEqual(json);
    expect(await seen('survival')).toEqual({ directories: [], silent: [] });
  });

  it('POST /cluster/left-directories/{id}/adopt: body {configurationName?}, 201 the instance; 409 with the reason; 404', async () => {
    const id = await leftDirectory();
    const adopt = (directory: string, body: unknown = {}, token?: string) =>
      world.call(`POST /cluster/left-directories/${directory}/adopt`, {
        body,
        ...(token !== undefined && { token }),
      });
    const others = 'key create others OPERATE --configurations survival';
    const { token } = z.object({ token: z.string() }).parse(await printed(others));
    await world.commands.configure('survival', { static: true });
    for (const name of ['survival', 'lobby', undefined])
      expect((await adopt(id, { configurationName: name }, token)).status, name).toBe(404);
    expect((await adopt(id, { configurationName: 'nothing' })).status).toBe(404);
    expect((await adopt('zzzzzz')).status).toBe(404);
    expect((await adopt(id, { configurationName: 7 })).status).toBe(400);
    const { status, json } = await adopt(id);
    expect([status, json]).toMatchObject([201, { id, configurationName: 'lobby', wrapperNodeId: 'alpha' }]);
    await until(() =>
      expect(world.audit).toContainEqual(
        expect.objectContaining({ subject: `${id} of lobby`, result: '201' }),
      ),
    );
    expect(await adopt(id)).toMatchObject({ status: 409, json: anError });
  });

  it('GET /cluster/tokens: 200, the tokens without their hashes', async () => {
    await world.call('POST /cluster/tokens', { body: { label: 'one' } });
    await world.call('POST /cluster/tokens', { body: { label: 'two' } });
    const { status, json } = await world.call('GET /cluster/tokens');
    expect(status).toBe(200);
    expect(
      z
        .array(z.object({ label: z.string() }))
        .parse(json)
        .map(({ label }) => label)
        .sort(),
    ).toEqual(['one', 'two']);
    expect(JSON.stringify(json)).not.toContain('hash');
  });

  it('DELETE /cluster/tokens/{id}: 200 {message, id}; 404 when there is none', async () => {
    const { id } = z.object({ id: z.string() }).parse((await world.call('POST /cluster/tokens')).json);
    const { status, json } = await world.call(`DELETE /cluster/tokens/${id}`);
    expect([status, json]).toEqual([200, { message: expect.stringContaining(id), id }]);
    expect((await world.call('GET /cluster/tokens')).json).toEqual([]);
    expect((await world.call(`DELETE /cluster/tokens/${id}`)).status).toBe(404);
  });
});

describe('Keys', () => {
  it('POST /keys: 201 {label, scope, token}, a token that works and is shown this once; 409 when the label is taken', async () => {
    const body = { label: 'ci', scope: 'ALL' };
    const { status, json, headers } = await world.call('POST /keys', { body });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { token } = z
      .object({ label: z.literal('ci'), scope: z.literal('ALL'), token: z.string() })
      .parse(json);
    const listed = await world.call('GET /keys', { token });
    expect(listed.status).toBe(200);
    expect(JSON.stringify(listed.json)).not.toContain(token);
    const again = await world.call('POST /keys', { body });
    expect([again.status, again.json]).toEqual([409, anError]);
    expect(world.audit.map(({ action, subject, result }) => [action, subject, result])).toEqual([
      ['POST /keys', 'ci', '201'],
      ['POST /keys', 'ci', '409'],
    ]);
    expect(JSON.stringify(world.audit)).not.toContain(token);
  });

  it('POST /keys: 400 for a scope or a label that is none', async () => {
    for (const body of [
      undefined,
      { label: 'a' },
      { label: 'a', scope: 'all' },
      { label: 'a b', scope: 'ALL' },
    ])
      expect((await world.call('POST /keys', { body })).status, JSON.stringify(body)).toBe(400);
  });

  it('GET /keys: 200, the keys, and when each was used last', async () => {
    await world.call('POST /keys', { body: { label: 'app', scope: 'PUBLIC' } });
    // The first use is written at once, and the next one a minute later.
    const used = { label: 'boss', lastUsedAt: expect.any(Number), lastUsedFrom: '127.0.0.1' };
    await until(async () => expect(await printed('key list')).toContainEqual(expect.objectContaining(used)));
    const { status, json } = await world.call('GET /keys');
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { label: 'app', scope: 'PUBLIC', mask: expect.stringMatching(/^drv_\.\.\.\w{4}$/) },
      { label: 'boss', scope: 'ALL' },
    ]);
  });

  it('DELETE /keys/{label}: 200 {message, label}, refused from then on; 404 when there is none', async () => {
    const created = await world.call('POST /keys', { body: { label: 'ci', scope: 'ALL' } });
    const { token } = z.object({ token: z.string() }).parse(created.json);
    const { status, json } = await world.call('DELETE /keys/ci');
    expect([status, json]).toEqual([200, { message: 'key ci is deleted', label: 'ci' }]);
    expect((await world.call('GET /keys', { token })).status).toBe(401);
    expect((await world.call('DELETE /keys/ci')).status).toBe(404);
  });

  it('DELETE /keys/{label}: 400 for the last key with scope ALL', async () => {
    const { status, json } = await world.call('DELETE /keys/boss');
    expect([status, json]).toEqual([400, refusal(expect.stringContaining('is the last one with scope ALL'))]);
  });
});

describe('Sessions', () => {
  const signIn = async (body?: unknown) => {
    const { status, json, headers } = await world.call('POST /sessions', { body });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    return z.looseObject({ id: z.string(), token: z.string(), scope: z.string() }).parse(json);
  };

  it('GET /whoami: 200, what the key or session may do, and which cluster says so', async () => {
    const { id, token } = await signIn({ scope: 'READ' });
    const ofKey = await world.call('GET /whoami');
    expect([ofKey.status, ofKey.json]).toMatchObject([
      200,
      { key: 'boss', session: null, scope: 'ALL', expiresAt: null, endsAt: null, clusterName: 'test' },
    ]);
    expect((await world.call('GET /whoami', { token })).json).toMatchObject({ session: id, scope: 'READ' });
  });

  it('POST /sessions: 201 with a token that works and is shown this once; 400 for what is more than the key', async () => {
    const { id, token, scope } = await signIn();
    expect([scope, token]).toEqual(['ALL', expect.stringMatching(/^drvs_/)]);
    expect((await world.call('GET /keys', { token })).status).toBe(200);
    expect((await world.call('POST /sessions', { body: { expires: '30d' } })).status).toBe(400);
    expect((await world.call('POST /sessions', { token })).status).toBe(400);
    expect(JSON.stringify([world.audit, await printed('session list')])).not.toContain(token);
    expect(world.audit[0]).toEqual({ key: 'boss', action: 'POST /sessions', subject: id, result: '201' });
  });

  it('POST /sessions/codes: 404 where there is no dashboard; what it answers is tested in sign-in-codes.test.ts', async () => {
    const { status, json } = await world.call('POST /sessions/codes', { body: {} });
    expect([status, json]).toEqual([404, refusal(expect.stringContaining('has no dashboard'))]);
  });

  it('GET /sessions: 200, the sessions', async () => {
    const { id } = await signIn({ expires: '1h' });
    const { status, json } = await world.call('GET /sessions');
    expect(status).toBe(200);
    expect(json).toMatchObject([{ id, key: 'boss', scope: 'ALL', isCurrent: false }]);
  });

  it('DELETE /sessions/{id}: 200 {message, id}, refused from then on; 404 when there is none', async () => {
    const { id, token } = await signIn();
    const { status, json } = await world.call(`DELETE /sessions/${id}`);
    expect([status, json]).toEqual([200, { message: `session ${id} is ended`, id }]);
    expect((await world.call('GET /whoami', { token })).status).toBe(401);
    expect((await world.call(`DELETE /sessions/${id}`)).status).toBe(404);
    const other = await signIn();
    expect(await printed(`session revoke ${other.id}`)).toEqual({
      message: `session ${other.id} is ended`,
      id: other.id,
    });
    expect((await world.call('GET /whoami', { token: other.token })).status).toBe(401);
  });
});

describe('Secrets', () => {
  const set = (name: string, value: string) => world.call(`PUT /secrets/${name}`, { body: { value } });

  it('GET /secrets: 200, the secrets, their age and users, without values', async () => {
    await set('db%2Fpassword', 'correct-horse');
    await world.commands.configure('lobby', {
      minimumServiceCount: 0,
      environmentVariables: { PASSWORD: '%SECRET:db/password%' },
    });
    const { status, json } = await world.call('GET /secrets');
    expect([status, json]).toEqual([
      200,
      [
        {
          name: 'db/password',
          source: 'value',
          changedAt: expect.any(Number),
          changedBy: 'boss',
          users: ['lobby'],
        },
      ],
    ]);
    expect(JSON.stringify(json)).not.toContain('correct-horse');
  });

  it('PUT /secrets/{name}: 200 {message, name}; repeatable; 400 for what is none of the sources', async () => {
    for (const value of ['correct-horse', 'another'])
      expect([(await set('token', value)).status, (await set('token', value)).json]).toEqual([
        200,
        { message: expect.any(String), name: 'token' },
      ]);
    expect((await world.call('PUT /secrets/token', { body: {} })).status).toBe(400);
  });

  it('DELETE /secrets/{name}: 200 {message, name}; 409 while it is used; 404 when there is none', async () => {
    await set('token', 'correct-horse');
    const of = (variables: Readonly<Record<string, string>>) =>
      world.commands.configure('lobby', { minimumServiceCount: 0, environmentVariables: variables });
    await of({ TOKEN: '%SECRET:token%' });
    const remove = () => world.call('DELETE /secrets/token');
    expect((await remove()).status).toBe(409);
    await of({});
    const removed = await remove();
    expect([removed.status, removed.json]).toEqual([200, { message: expect.any(String), name: 'token' }]);
    expect((await remove()).status).toBe(404);
  });
});

describe('Rollouts and history', () => {
  /** A rollout of a second content, which waits for good: players are on the one instance that it has to replace. */
  async function rollout(fields: Partial<RolloutRecord> = {}): Promise<void> {
    const update = { strategy: 'rolling', canary: 1, promote: 'manual' } as const;
    const both = { minimumServiceCount: 1, maximumServiceCount: 1, update };
    const { plane } = world.commands;
    const { configurations, rollouts } = plane.master.state;
    await world.commands.configure('lobby', { ...both, ramMB: 100 });
    const [instance] = await world.commands.untilOnline('lobby', 1);
    await plane.master.writer.reportState(instance?.id ?? '', { state: 'ONLINE', players: 2 });
    const from = configurations.get('lobby')?.value.hash ?? expect.fail('no configuration');
    await world.commands.configure('lobby', { ...both, ramMB: 120 });
    const to = configurations.get('lobby')?.value.hash ?? expect.fail('no configuration');
    const record = rolloutRecord({ since: 1000, progressAt: null, from, to, ...fields });
    const put = { do: 'put', key: rolloutKey('lobby'), value: record } as const;
    await rollouts.until(await plane.store.transact([put]));
    // Nothing changes it from then on.
    if (record.endedAt === null)
      await until(() =>
        expect(rollouts.get('lobby')?.value).toMatchObject({ counts: { outdated: 1, waiting: 1 } }),
      );
  }

  it('GET /rollouts: 200, the rollouts, by name', async () => {
    expect((await world.call('GET /rollouts')).json).toEqual([]);
    await rollout({ state: 'failed', reason: 'no-progress', message: 'none became good', endedAt: 5 });
    const { status, json } = await world.call('GET /rollouts');
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { configurationName: 'lobby', state: 'failed', fromNumber: 1, toNumber: 2, isHeldBack: true },
    ]);
  });

  it('GET /rollouts/{name}: 200, the rollout; 404 without one, and without a configuration', async () => {
    await world.commands.configure('arena');
    await rollout({ state: 'awaiting-promotion', isPromoted: false });
    const { status, json } = await world.call('GET /rollouts/lobby');
    expect([status, json]).toMatchObject([200, { configurationName: 'lobby', state: 'awaiting-promotion' }]);
    expect((await world.call('GET /rollouts/arena')).json).toMatchObject({
      error: expect.stringContaining('has had no rollout'),
    });
    expect((await world.call('GET /rollouts/nope')).status).toBe(404);
  });

  const scheduled = (): Promise<void> =>
    world.commands.configure('lobby', {
      schedules: [{ name: 'yearly', cron: '0 0 1 1 *', do: 'command', command: 'save' }],
    });

  it('GET /schedules: 200, the schedules of all configurations', async () => {
    expect((await world.call('GET /schedules')).json).toEqual([]);
    await scheduled();
    const { status, json } = await world.call('GET /schedules');
    expect([status, json]).toMatchObject([
      200,
      [{ configurationName: 'lobby', name: 'yearly', do: 'command', zone: 'UTC' }],
    ]);
  });

  it('POST /configurations/{name}/schedules/{schedule}/{action}: 200, the schedules; 404 without it', async () => {
    await scheduled();
    const first = await world.call('POST /configurations/lobby/schedules/yearly/pause');
    expect([first.status, first.json]).toMatchObject([200, [{ name: 'yearly', paused: { by: 'boss' } }]]);
    expect((await world.call('POST /configurations/lobby/schedules/daily/pause')).status).toBe(404);
    expect((await world.call('POST /configurations/nope/schedules/yearly/pause')).status).toBe(404);
    expect((await world.call('POST /configurations/lobby/schedules/yearly/burn')).status).toBe(400);
  });

  it('POST /configurations/{name}/freeze: 200, how it is frozen; then changes are 409; 404 without it', async () => {
    await scheduled();
    const freeze = (name: string, body: object) =>
      world.call(`POST /configurations/${name}/freeze`, { body });
    const { status, json } = await freeze('lobby', { until: '2h', reason: 'cup' });
    expect([status, json]).toMatchObject([200, { name: 'lobby', frozen: { by: 'boss', reason: 'cup' } }]);
    const refused = await world.call('PUT /configurations/lobby', { body: { command: 'x' } });
    expect([refused.status, refused.json]).toMatchObject([409, { code: 'DRV_CONFIGURATION_FROZEN' }]);
    expect((await world.call('DELETE /configurations/lobby')).status).toBe(409);
    expect((await freeze('lobby', { until: 'soon' })).status).toBe(400);
    expect((await freeze('nope', {})).status).toBe(404);
  });

  it('DELETE /configurations/{name}/freeze: 200, frozen is null; repeatable', async () => {
    await scheduled();
    await world.call('POST /configurations/lobby/freeze', { body: {} });
    for (const _time of [1, 2])
      expect(await world.call('DELETE /configurations/lobby/freeze')).toMatchObject({
        status: 200,
        json: { name: 'lobby', frozen: null },
      });
  });

  it('POST /rollouts/{name}/pause: 200, the rollout; repeatable; 409 when it has ended', async () => {
    await rollout({ state: 'awaiting-promotion', isPromoted: false });
    const first = await world.call('POST /rollouts/lobby/pause');
    expect([first.status, first.json]).toMatchObject([200, { state: 'paused', paused: { by: 'boss' } }]);
    expect((await world.call('POST /rollouts/lobby/pause')).json).toEqual(first.json);
    await rollout({ state: 'failed', reason: 'no-progress', message: 'none became good', endedAt: 5 });
    expect((await world.call('POST /rollouts/lobby/pause')).status).toBe(409);
  });

  it('POST /rollouts/{name}/resume: 200, the rollout; repeatable; 409 when it has ended', async () => {
    await rollout({ state: 'awaiting-promotion', isPromoted: false });
    await world.call('POST /rollouts/lobby/pause');
    const first = await world.call('POST /rollouts/lobby/resume');
    expect([first.status, first.json]).toMatchObject([200, { state: 'awaiting-promotion', paused: null }]);
    expect((await world.call('POST /rollouts/lobby/resume')).json).toEqual(first.json);
    await rollout({ state: 'failed', reason: 'no-progress', message: 'none became good', endedAt: 5 });
    expect((await world.call('POST /rollouts/lobby/resume')).status).toBe(409);
  });

  it('POST /rollouts/{name}/promote: 200, the rollout; 409 when no canaries wait', async () => {
    await rollout({ state: 'awaiting-promotion', isPromoted: false });
    const { status, json } = await world.call('POST /rollouts/lobby/promote');
    expect([status, json]).toMatchObject([200, { state: 'rolling', isPromoted: true }]);
    await rollout({ state: 'failed', reason: 'no-progress', message: 'none became good', endedAt: 5 });
    expect((await world.call('POST /rollouts/lobby/promote')).status).toBe(409);
  });

  it('POST /rollouts/{name}/retry: 200, the rollout; 409 when nothing is held back', async () => {
    await rollout({ state: 'failed', reason: 'no-progress', message: 'none became good', endedAt: 5 });
    const { status, json } = await world.call('POST /rollouts/lobby/retry');
    expect([status, json]).toMatchObject([200, { cause: 'retry', by: 'boss', isHeldBack: false }]);
    await rollout({ state: 'awaiting-promotion', isPromoted: false });
    expect((await world.call('POST /rollouts/lobby/retry')).status).toBe(409);
  });

  it('POST /configurations/{name}/restart: 200, the rollout; 409 while one is paused', async () => {
    await world.commands.configure('lobby', { update: { strategy: 'rolling' } });
    const { status, json } = await world.call('POST /configurations/lobby/restart');
    expect([status, json]).toMatchObject([200, { configurationName: 'lobby', cause: 'restart', by: 'boss' }]);
    await rollout({ state: 'awaiting-promotion', isPromoted: false });
    await world.call('POST /rollouts/lobby/pause');
    expect((await world.call('POST /configurations/lobby/restart')).status).toBe(409);
  });

  it('POST /configurations/{name}/rollback: 200, the file is held back; 404 for a content that is gone, 409 for that of the file', async () => {
    await world.commands.configure('lobby', { ramMB: 100 });
    await world.commands.configure('lobby', { ramMB: 120 });
    const file = join(world.commands.root, 'configurations/lobby.json');
    const text = readFileSync(file, 'utf8');
    const body = { reason: 'players fall through the floor' };
    const { status, json } = await world.call('POST /configurations/lobby/rollback', { body });
    expect([status, json]).toMatchObject([
      200,
      {
        name: 'lobby',
        to: 1,
        rollout: { isHeldBack: true, message: body.reason, fromNumber: 1, toNumber: 2 },
      },
    ]);
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect(await printed('config history lobby')).toMatchObject([
      { number: 2, outcome: 'rolled-back', reason: body.reason, isInForce: false },
      { number: 1, outcome: 'in-force', isInForce: true },
    ]);
    const tried = async (to: number) =>
      (await world.call('POST /configurations/lobby/rollback', { body: { ...body, to } })).status;
    expect([await tried(7), await tried(2)]).toEqual([404, 409]);
    expect((await world.call('POST /configurations/lobby/rollback', { body: { to: 'x' } })).status).toBe(400);
    // A reason is optional; there is no older content than the first.
    expect((await world.call('POST /configurations/lobby/rollback', { body: {} })).status).toBe(404);
  });

  it('POST /configurations/{name}/rollback/file: 200, the older content is in the file and in force', async () => {
    await world.commands.configure('lobby', { ramMB: 100 });
    await world.commands.configure('lobby', { ramMB: 120 });
    const body = { reason: 'too large' };
    const { status, json } = await world.call('POST /configurations/lobby/rollback/file', { body });
    expect([status, json]).toMatchObject([200, { name: 'lobby', to: 1, rollout: null }]);
    const file = join(world.commands.root, 'configurations/lobby.json');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ name: 'lobby', ramMB: 100 });
    expect(await printed('config history lobby')).toMatchObject([
      { number: 3, key: 'boss', outcome: 'in-force' },
      { number: 2, outcome: 'rolled-back', reason: 'too large' },
      { number: 1 },
    ]);
  });

  it('GET /configurations/{name}/history: 200, the last contents; 404 for an unknown one', async () => {
    await oneInstance();
    const ram = { runtime: 'process', command: 'run', ramMB: 128, cpu: 10 };
    expect((await world.call('PUT /configurations/lobby', { body: ram })).status).toBe(204);
    const { status, json } = await world.call('GET /configurations/lobby/history');
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { number: 2, file: 'lobby.json', node: 'master', key: 'boss', outcome: 'in-force', instances: 0 },
      { number: 1, file: 'lobby.json', key: null, outcome: 'replaced', instances: 1 },
    ]);
    expect((await world.call('GET /configurations/nope/history')).status).toBe(404);
  });

  it('GET /configurations/{name}/history/diff: 200, what differs between two contents', async () => {
    await world.commands.configure('lobby', { ramMB: 128 });
    await world.commands.configure('lobby', { ramMB: 256 });
    await world.commands.configure('lobby', { ramMB: 512 });
    const { status, json } = await world.call('GET /configurations/lobby/history/diff?from=1&to=2');
    expect(status).toBe(200);
    expect(json).toMatchObject({ differences: [{ field: 'ramMB', before: '128', after: '256' }] });
    expect((await world.call('GET /configurations/lobby/history/diff?from=1')).json).toMatchObject({ to: 3 });
    expect((await world.call('GET /configurations/lobby/history/diff?from=9')).status).toBe(404);
    const environmentVariables = { PASSWORD: 'new' };
    await world.commands.configure('lobby', { ramMB: 512, environmentVariables });
    const shown = (after: string) => ({
      differences: [{ field: 'environmentVariables.PASSWORD', before: null, after }],
    });
    const path = 'GET /configurations/lobby/history/diff?from=3&to=4';
    expect((await world.call(path)).json).toMatchObject(shown('***'));
    expect((await world.call(`${path}&values=true`)).json).toMatchObject(shown('"new"'));
  });
});

describe('Configurations and templates', () => {
  it('GET /configurations/{name}/diff: 200, what differs from older instances; 404 for an unknown one', async () => {
    const id = await oneInstance();
    await world.commands.configure('lobby', { minimumServiceCount: 1, ramMB: 128 });
    const { status, json } = await world.call('GET /configurations/lobby/diff');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      configurationName: 'lobby',
      file: 'lobby.json',
      fileState: 'same',
      olderInstances: [{ instanceIds: [id], differences: [{ field: 'ramMB', before: '100', after: '128' }] }],
      currentInstances: 0,
    });
    expect((await world.call('GET /configurations/nope/diff')).status).toBe(404);
    const differences = (before: string, after: string) => ({
      olderInstances: [{ differences: [{ field: 'environmentVariables.PASSWORD', before, after }] }],
    });
    const first = { minimumServiceCount: 1, environmentVariables: { PASSWORD: 'old' } };
    const second = { minimumServiceCount: 1, environmentVariables: { PASSWORD: 'new' } };
    await world.commands.configure('secretive', first);
    await world.commands.untilOnline('secretive', 1);
    await world.commands.configure('secretive', second);
    const path = 'GET /configurations/secretive/diff';
    expect((await world.call(path)).json).toMatchObject(differences('***', '***'));
    expect((await world.call(`${path}?values=true`)).json).toMatchObject(differences('"old"', '"new"'));
    const created = await world.commands.json('key create reader READ');
    const { token: reader } = z.object({ token: z.string() }).parse(created);
    expect((await world.call(`${path}?values=true`, { token: reader })).json).toMatchObject(
      differences('***', '***'),
    );
  });

  it('POST /configurations/{name}/check: 200, every fault of a text with line and column; writes nothing', async () => {
    const check = async (text: string) =>
      (await world.call('POST /configurations/lobby/check', { body: { text } })).json;
    expect(await check('{"command": "x"}')).toEqual({ problems: [], warnings: [] });
    expect(await check('{\n  "command": "x",\n  "name": "hall",\n  "ramM": 5\n}')).toEqual({
      problems: [],
      warnings: [
        {
          line: 3,
          column: 11,
          field: 'name',
          message: 'has no effect here: the configuration is called lobby',
        },
        { line: 4, column: 3, field: 'ramM', message: expect.stringContaining('ramMB') },
      ],
    });
    expect(await check('{\n  "ramMB": "5",\n  "cpu": -1\n}')).toMatchObject({
      problems: [
        { line: 1, column: 1, field: 'command' },
        { line: 2, column: 12, field: 'ramMB' },
        { line: 3, column: 10, field: 'cpu' },
      ],
      warnings: [],
    });
    expect(await check('{\n  "command": "x",\n}')).toEqual({
      problems: [{ line: 2, column: 17, field: '', message: expect.stringContaining('not valid JSON') }],
      warnings: [],
    });
    expect((await world.call('GET /configurations/lobby')).status).toBe(404);
    expect(world.audit).toEqual([]);
  });

  it('POST /configurations/batch: 200, the outcome of each put and removal; 400 before the first write; 403 beyond the reach of the key', async () => {
    const content = { runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
    const batch = (changes: object[], token?: string) =>
      world.call('POST /configurations/batch', { body: { changes }, ...(token !== undefined && { token }) });
    const put = (name: string, fields: object = {}) => ({
      do: 'put',
      name,
      content: { name, ...content, ...fields },
    });
    expect((await batch([put('lobby'), put('proxy', { ramMB: 0 })])).status).toBe(400);
    expect((await world.call('GET /configurations/lobby')).status).toBe(404);
    const { status, json } = await batch([
      put('lobby'),
      { ...put('proxy'), ifMatch: '0123456789abcdef0123456789abcdef' },
      { do: 'remove', name: 'gone' },
    ]);
    expect([status, json]).toEqual([
      200,
      [
        { name: 'lobby', status: 204, error: null, code: null },
        { name: 'proxy', status: 412, error: expect.any(String), code: 'DRV_CONFIGURATION_CHANGED' },
        { name: 'gone', status: 404, error: expect.any(String), code: 'DRV_CONFIGURATION_UNKNOWN' },
      ],
    ]);
    expect((await world.call('GET /configurations/lobby')).status).toBe(200);
    const key = await world.commands.json('key create lobbies CONFIGURE --configurations lobby');
    const { token } = z.object({ token: z.string() }).parse(key);
    expect((await batch([{ do: 'remove', name: 'lobby' }, put('other')], token)).status).toBe(403);
    expect((await world.call('GET /configurations/lobby')).status).toBe(200);
    expect((await batch([{ do: 'remove', name: 'lobby' }], token)).json).toMatchObject([{ status: 204 }]);
  });

  it('POST /plan: 200, what contents would change and what becomes of the instances; 400 as of a PUT; 403 beyond the reach of the key; 409 for another fingerprint; writes nothing', async () => {
    await world.commands.configure('lobby');
    const small = { runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };
    const lobby = { name: 'lobby', ...small, minimumServiceCount: 2 };
    const plan = (body: object, token?: string) =>
      world.call('POST /plan', { body, ...(token !== undefined && { token }) });
    const { status, json } = await plan({ configurations: [lobby] });
    expect([status, json]).toEqual([
      200,
      {
        formatVersion: 1,
        fingerprint: expect.stringMatching(/^[0-9a-f]{32}$/),
        configurations: [
          expect.objectContaining({
            name: 'lobby',
            action: 'change',
            effects: { create: 2, replace: 0, restart: 0, stop: 0, keep: 0, waitForPlayers: 0 },
            why: expect.stringContaining('2 instances are created.'),
          }),
        ],
        others: [],
        shortages: [],
        warnings: [],
      },
    ]);
    const { fingerprint } = z.object({ fingerprint: z.string() }).parse(json);
    expect((await plan({ configurations: [lobby], fingerprint })).status).toBe(200);
    expect(await plan({ configurations: [lobby], fingerprint: 'other' })).toMatchObject({
      status: 409,
      json: refusal(expect.stringContaining('plan again')),
    });
    expect(await plan({ configurations: [{ ...lobby, ramMB: 0 }] })).toMatchObject({
      status: 400,
      json: refusal(expect.stringContaining('lobby: ramMB')),
    });
    const { token } = z
      .object({ token: z.string() })
      .parse(
        (await world.call('POST /keys', { body: { label: 'ci', scope: 'PLAN', configurations: ['m*'] } }))
          .json,
      );
    expect(await plan({ configurations: [lobby] }, token)).toMatchObject({
      status: 403,
      json: refusal(expect.stringContaining('restricted')),
    });
    expect(world.commands.plane.records()).toEqual([]);
  });

  it('GET /configurations/{name}/broken-file: 200, its text and the fault, with a revision; 404 when none is broken', async () => {
    expect((await world.call('GET /configurations/lobby/broken-file')).status).toBe(404);
    world.commands.writeFile('lobby.json', '{');
    await world.commands.files.reload();
    const { status, json, headers } = await world.call('GET /configurations/lobby/broken-file');
    expect([status, json]).toEqual([
      200,
      expect.objectContaining({ file: 'lobby.json', text: '{', error: expect.objectContaining({ line: 1 }) }),
    ]);
    expect(headers.get('etag')).toMatch(/^".+"$/);
  });

  it('GET /configurations/{name}/file: 200, as the file says it, with what is not known; 404 for an unknown one', async () => {
    world.commands.writeFile('lobby.json', '{"$schema": "x", "command": "run", "note": [1]}');
    await world.commands.files.reload();
    const { status, json, headers } = await world.call('GET /configurations/lobby/file');
    const { headers: same } = await world.call('GET /configurations/lobby');
    expect([status, json]).toEqual([
      200,
      {
        name: 'lobby',
        revision: headers.get('etag')?.slice(1, -1),
        file: 'lobby.json',
        fileState: 'same',
        gitNote: null,
        content: { $schema: 'x', command: 'run', note: [1] },
      },
    ]);
    expect(same.get('etag')).toBe(headers.get('etag'));
    world.commands.writeFile('lobby.json', '{');
    expect((await world.call('GET /configurations/lobby/file')).json).toMatchObject({
      fileState: 'broken',
      content: { name: 'lobby', command: 'run', ramMB: 2048 },
    });
    expect((await world.call('GET /configurations/nope/file')).status).toBe(404);
  });

  it('GET /configuration-files/errors: 200, files that are not in force as they stand', async () => {
    expect((await world.call('GET /configuration-files/errors')).json).toEqual([]);
    world.commands.writeFile('broken.json', '{\n  "name": "broken",\n  "ramMB": "much"\n}');
    await world.call('POST /configuration-files/reload');
    const { status, json } = await world.call('GET /configuration-files/errors');
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { file: 'broken.json', line: expect.any(Number), message: expect.any(String) },
    ]);
  });

  it('GET /configuration-files/warnings: 200, what files that are in force say without effect', async () => {
    expect((await world.call('GET /configuration-files/warnings')).json).toEqual([]);
    world.commands.writeFile('lobby.json', '{\n  "command": "run",\n  "ramMb": 5\n}');
    await world.call('POST /configuration-files/reload');
    const { status, json } = await world.call('GET /configuration-files/warnings');
    const message = 'unknown field, has no effect; did you mean "ramMB"?';
    expect([status, json]).toEqual([
      200,
      [{ file: 'lobby.json', name: 'lobby', line: 3, column: 3, field: 'ramMb', message }],
    ]);
  });

  it('POST /configuration-files/reload: 200 {added, changed, removed, waiting, brokenFiles, warnings, configurations}', async () => {
    const body = (ramMB: number) =>
      JSON.stringify({ name: 'lobby', command: 'run', runtime: 'process', ramMB });
    world.commands.writeFile('lobby.json', body(10));
    const none = { added: [], changed: [], removed: [], waiting: [] };
    const nothing = { ...none, brokenFiles: [], warnings: [], configurations: 1 };
    const first = await world.call('POST /configuration-files/reload');
    expect([first.status, first.json]).toEqual([200, { ...nothing, added: ['lobby'] }]);
    world.commands.writeFile('lobby.json', body(20));
    expect((await world.call('POST /configuration-files/reload')).json).toEqual({
      ...nothing,
      changed: ['lobby'],
    });
    expect((await world.call('POST /configuration-files/reload')).json).toEqual(nothing);
    const names = ['a', 'b', 'c', 'lobby'];
    for (const name of ['a', 'b', 'c']) world.commands.writeFile(`${name}.json`, '{ "command": "run" }');
    await world.call('POST /configuration-files/reload');
    for (const name of names) world.commands.removeFile(`${name}.json`);
    expect((await world.call('POST /configuration-files/reload')).json).toMatchObject({
      waiting: names,
      configurations: 4,
    });
    expect((await world.call('POST /configuration-files/reload?confirm=true')).json).toEqual({
      ...nothing,
      removed: names,
      configurations: 0,
    });
  });

  it('GET /schemas/configuration.json: 200, the JSON Schema of a configuration', async () => {
    const { status, json } = await world.call('GET /schemas/configuration.json');
    expect([status, json]).toMatchObject([
      200,
      { title: 'Drover configuration', anyOf: [{ required: ['command'] }, { required: ['extends'] }] },
    ]);
  });

  /** An override of ramMB, as a master writes it whose files belong to git. */
  const override = async (): Promise<void> => {
    await world.commands.configure('lobby', { ramMB: 100 });
    const { store, configurations } = world.commands.plane.master.state;
    const file = configurations.get('lobby')?.value;
    const fields = { ramMB: { value: 120, by: 'ops', at: 1, reason: 'peak' } };
    const value = { is: 'fields', file, fields };
    await world.commands.plane.master.state.overrides.until(
      await store.transact([{ do: 'create', key: 'overrides/lobby', value }]),
    );
  };

  it('GET /configuration-overrides: 200, what callers changed beside the files', async () => {
    expect((await world.call('GET /configuration-overrides')).json).toEqual({
      writes: 'file',
      overrides: [],
    });
    await override();
    const { status, json } = await world.call('GET /configuration-overrides');
    const who = { by: 'ops', at: 1, reason: 'peak', isManaged: false };
    const what = { configurationName: 'lobby', field: 'ramMB', is: 'changed', file: 'lobby.json' };
    expect([status, json]).toEqual([
      200,
      { writes: 'file', overrides: [{ ...what, fileValue: '100', value: '120', ...who }] },
    ]);
  });

  it('POST /configurations/{name}/reset: 200, the file counts again; 404 without an override', async () => {
    await override();
    const body = { field: 'ramMB' };
    const { status, json } = await world.call('POST /configurations/lobby/reset', { body });
    expect([status, json]).toEqual([200, { writes: 'file', overrides: [] }]);
    expect((await world.call('POST /configurations/lobby/reset', { body })).status).toBe(404);
  });

  it('GET /configuration-files/directory: 200, where the directory stands in git', async () => {
    const { status, json } = await world.call('GET /configuration-files/directory');
    expect([status, json]).toEqual([200, { node: 'master', git: null, fault: null, text: null, files: [] }]);
  });

  it('GET /configuration-files/commits/{commit}: 200, how far a commit has come', async () => {
    const { status, json } = await world.call('GET /configuration-files/commits/24cca00');
    expect([status, json]).toEqual([
      200,
      {
        commit: null,
        state: 'unknown',
        message: 'the configurations directory of master has no commit: git tracks none of its files',
        files: [],
        total: 0,
      },
    ]);
  });

  it('GET /configuration-files: 200, the state of every file', async () => {
    expect((await world.call('GET /configuration-files')).json).toEqual([]);
    world.commands.writeFile('lobby.json', '{ "command": "run", "minimumServiceCount": 0 }');
    world.commands.writeFile('other.json', '{ "name": "lobby", "command": "run" }');
    world.commands.writeFile('game.json', '{\n  "ramMB": "much"\n}');
    await world.call('POST /configuration-files/reload');
    const { status, json } = await world.call('GET /configuration-files');
    const git = { commit: null, isDirty: null, inGit: null, commitInForce: null };
    const own = { node: 'master', ...git, removalWaits: false };
    const nothing = { ...own, revision: null, appliedAt: null, instances: { current: 0, outdated: 0 } };
    expect([status, json]).toEqual([
      200,
      [
        {
          ...nothing,
          file: 'game.json',
          name: null,
          state: 'broken',
          error: { line: 1, column: 1, field: 'command', message: expect.stringContaining('command: ') },
        },
        {
          ...nothing,
          file: 'lobby.json',
          name: 'lobby',
          state: 'in-force',
          error: null,
          revision: expect.stringMatching(/^[0-9a-f]{32}$/),
          appliedAt: expect.any(Number),
        },
        {
          ...nothing,
          file: 'other.json',
          name: 'lobby',
          state: 'shadowed',
          error: { line: null, column: null, field: 'name', message: expect.stringContaining('taken') },
        },
      ],
    ]);
  });

  it('GET /templates/{group}/{name}/users: 200, names of the configurations that may install the template', async () => {
    const installs = (config: object) => ({ templateInstallationConfig: config });
    await world.commands.configure('whole', installs({ allInGroups: ['games'] }));
    await world.commands.configure('named', installs({ oneOf: [{ group: 'games', name: 'lobby' }] }));
    await world.commands.configure('other', installs({ allOf: [{ group: 'games', name: 'arena' }] }));
    const { status, json } = await world.call('GET /templates/games/lobby/users');
    expect([status, json]).toEqual([200, ['named', 'whole']]);
  });
});

describe('Commands', () => {
  it('GET /commands: 200, the commands, and which of them may destroy something', async () => {
    const { status, json } = await world.call('GET /commands');
    expect(status).toBe(200);
    const listed = z
      .array(z.object({ path: z.string(), usage: z.string(), about: z.string(), destroys: z.boolean() }))
      .parse(json);
    const destroying = listed.filter(({ destroys }) => destroys).map(({ path }) => path);
    expect(destroying).toContain('instance delete');
    expect(destroying).not.toContain('instance list');
    expect(json).toContainEqual(
      expect.objectContaining({
        path: 'instance list',
        options: expect.arrayContaining([
          { flags: '-o, --output <format>', about: 'table for people, json for programs' },
        ]),
      }),
    );
  });

  it('GET /commands/completion: 200, words of the tree, ids and names; nothing is run', async () => {
    const id = await oneInstance();
    const complete = async (line: string) =>
      (await world.call(`GET /commands/completion?line=${encodeURIComponent(line)}`)).json;
    expect(await complete('inst')).toEqual({ word: 'inst', candidates: ['instance '] });
    expect(await complete('config ')).toMatchObject({
      word: '',
      candidates: expect.arrayContaining(['show']),
    });
    expect(await complete('instance delete ')).toEqual({ word: '', candidates: [`${id} `] });
    expect(await complete('fly ')).toEqual({ word: '', candidates: [] });
    expect((await world.call('GET /commands/completion')).status).toBe(400);
    expect(world.audit).toEqual([]);
  });
});

describe('Instances and the serving node', () => {
  it('GET /instances/{id}/details: 200, the details; 404 for an unknown one', async () => {
    const id = await oneInstance();
    const { status, json } = await world.call(`GET /instances/${id}/details`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, desired: 'run', static: false, templates: [], isRevisionCurrent: true });
    expect((await world.call('GET /instances/zzzzzz/details')).status).toBe(404);
  });

  it('POST /instances/{id}/update: 200 {message, instanceId, outcome, configurationRevision}; 409 with the numbers; 404', async () => {
    const id = await oneInstance();
    await world.commands.plane.master.writer.reportState(id, { state: 'ONLINE', players: 2 });
    await world.commands.configure('lobby', { minimumServiceCount: 1, command: 'better' });
    const { hash } =
      world.commands.dependencies.configurations.get('lobby')?.value ?? expect.fail('no lobby');
    const update = (body?: unknown) => world.call(`POST /instances/${id}/update`, { body });
    expect((await update({ waitForPlayers: true })).json).toEqual({
      message: expect.stringContaining('when its 2 players have left'),
      instanceId: id,
      outcome: 'waiting',
      configurationRevision: hash,
    });
    expect((await update({})).json).toMatchObject({ outcome: 'restarted', configurationRevision: hash });
    const again = await update({});
    expect([again.status, again.json]).toMatchObject([200, { instanceId: id, outcome: 'current' }]);
    expect((await update({ waitForPlayers: 'yes' })).status).toBe(400);

    await world.commands.configure('lobby', { minimumServiceCount: 1, ramMB: 2000 });
    const refused = await update({});
    expect([refused.status, refused.json]).toEqual([
      409,
      refusal(expect.stringContaining('its node alpha needs 2000 MB of RAM, 1000 MB of 1000 MB free')),
    ]);
    expect((await world.call('POST /instances/zzzzzz/update', { body: {} })).status).toBe(404);
  });

  it('GET /instances/{id}/logs/search: 200, what the node finds; 400 without a text', async () => {
    const id = await oneInstance();
    const { status, json } = await world.call(`GET /instances/${id}/logs/search?q=x`);
    expect([status, json]).toEqual([200, { instanceId: id, lines: [], next: null }]);
    for (const query of ['', '?q=', '?q=x&limit=0', '?q=x&before=0', `?q=${'x'.repeat(1001)}`])
      expect((await world.call(`GET /instances/${id}/logs/search${query}`)).status, query).toBe(400);
  });

  it('GET /instances/{id}/logs?removed=true: 200 also after the instance was removed, which is 404 without it', async () => {
    const id = await oneInstance();
    await world.call(`DELETE /instances/${id}`);
    await until(async () => expect((await world.call(`GET /instances/${id}`)).status).toBe(404));
    expect((await world.call(`GET /instances/${id}/logs`)).status).toBe(404);
    const { status, json } = await world.call(`GET /instances/${id}/logs?removed=true`);
    expect([status, json]).toMatchObject([200, { instanceId: id, lines: [] }]);
  });

  it('GET /instances/{id}/usage: 200, empty for a new one', async () => {
    const id = await oneInstance();
    const { status, json } = await world.call(`GET /instances/${id}/usage`);
    expect([status, json]).toEqual([
      200,
      { instanceId: id, everyMs: 60_000, at: [], cpuPercent: [], memoryBytes: [], players: [] },
    ]);
  });

  it('GET /usage: 200, partly where a node does not answer; 400 for a range over a day, 404 for what is not there', async () => {
    const id = await oneInstance();
    for (const of of [
      '',
      `instance=${id}`,
      'configuration=lobby',
      'node=alpha',
      'range=1d&by=configuration',
    ]) {
      const { status, json } = await world.call(`GET /usage?${of}`);
      // The nodes of this world are of a version that keeps no usage.
      const missing = [{ nodeId: 'alpha', why: expect.stringContaining('update it') }];
      expect([status, json]).toMatchObject([
        200,
        { everyMs: expect.any(Number), at: [], series: [], missing },
      ]);
    }
    expect((await world.call('GET /usage?range=2d')).status).toBe(400);
    for (const of of ['instance=aaaaaa', 'configuration=cats', 'node=omega'])
      expect((await world.call(`GET /usage?${of}`)).status).toBe(404);
  });

  it('GET /instances/{id}/runs: 200, the run that is up and how the last ones ended; 503 without its node', async () => {
    const id = await oneInstance();
    const before = Date.now();
    world.commands.node.runtime.end(id, { code: 3, signal: null, at: before });
    const json = await until(async () => {
      const { json: now } = await world.call(`GET /instances/${id}/runs`);
      expect(now).toMatchObject({ current: { run: 2 } });
      return now;
    });
    expect(json).toEqual({
      instanceId: id,
      current: { run: 2, upForMs: expect.any(Number) },
      runs: [
        {
          run: 1,
          begunAt: expect.any(Number),
          at: before,
          agoMs: expect.any(Number),
          code: 3,
          signal: null,
          wasAsked: false,
          lastLines: [],
          linesNote: expect.any(String),
        },
      ],
    });
    expect((await world.call(`GET /instances/${id}/runs?lines=51`)).status).toBe(400);
    await world.commands.node.wrapper.stop();
    const silent = await world.call(`GET /instances/${id}/runs`);
    expect([silent.status, silent.json]).toEqual([503, refusal(expect.stringContaining('node alpha'))]);
  });

  it('GET /watch: 400 without a topic; what it sends is tested in watch.test.ts', async () => {
    const { status, json } = await world.call('GET /watch');
    expect([status, json]).toEqual([400, refusal(expect.stringContaining('name what to follow'))]);
  });

  it('GET /extensions: 200, the extensions', async () => {
    world.commands.extensions.push({
      id: 'shelf',
      name: 'Shelf',
      version: '1.0.0',
      description: null,
      state: 'active',
      error: null,
      adds: ['storage shelf'],
    });
    const { status, json } = await world.call('GET /extensions');
    expect(status).toBe(200);
    expect(json).toMatchObject([{ id: 'shelf', adds: ['storage shelf'] }]);
  });

  it('GET /extensions/commands: 200, the commands that extensions add', async () => {
    world.commands.extensionCommands.push({ name: 'greet', description: 'says hello', run: () => undefined });
    const { status, json } = await world.call('GET /extensions/commands');
    expect([status, json]).toEqual([200, [{ name: 'greet', usage: '', description: 'says hello' }]]);
  });

  it('POST /extensions/commands/{command}: 200 {output, isOk}, whether or not it succeeded; 404 for an unknown one', async () => {
    world.commands.extensionCommands.push({
      name: 'greet',
      description: 'says hello',
      run: ([whom = 'nobody'], { print }) => print(`hello ${whom}`),
    });
    const { status, json } = await world.call('POST /extensions/commands/greet', {
      body: { words: ['you'] },
    });
    expect([status, json]).toEqual([200, { output: 'hello you\n', isOk: true }]);
    const unknown = await world.call('POST /extensions/commands/leave');
    expect([unknown.status, unknown.json]).toEqual([404, anError]);
  });

  it('POST /node/stop: 202 {message}; Drover ends once the answer is out', async () => {
    const { status, json } = await world.call('POST /node/stop');
    expect([status, json]).toEqual([202, { message: expect.stringContaining('Drover stops now') }]);
    await until(() => expect(world.commands.stops).toBe(1));
  });
});

describe('The rows of docs/api.md', () => {
  const section =
    readFileSync(DOCUMENT, 'utf8').split('\n## Beyond the contract\n')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| `\/api(\/\S+)` \|/gm)].map(
    ([, method, path]) => `${method} ${path}`,
  );
  const source = readFileSync(join(REPOSITORY, 'test/contract/api/beyond.test.ts'), 'utf8');

  it('have each a test that is named after it, and an operation in the description', () => {
    expect(rows.length).toBeGreaterThan(15);
    expect(rows.filter((row) => !source.includes(`it('${row}:`))).toEqual([]);
    expect(rows.filter((row) => !OpenApiCheck.load().has(row))).toEqual([]);
  });

  it('refuse a PUBLIC key, each of them', async () => {
    const created = await world.call('POST /keys', { body: { label: 'app', scope: 'PUBLIC' } });
    const { token } = z.object({ token: z.string() }).parse(created.json);
    for (const row of rows)
      expect((await world.call(row.replace(/\{\w+\}/g, 'alpha'), { token })).status, row).toBe(401);
  });
});
