/** Rows of the API contract: Instances, their fields, states and transitions. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type InstanceInfo, instanceInfoSchema } from '../../../src/model/instance.js';
import { refusal } from '../../support/api/refusal.js';
import { freePorts } from '../../support/free-ports.js';
import { until } from '../../support/until.js';
import { RowWorld } from './rows.js';

let world: RowWorld;
let port: number;
beforeAll(async () => {
  port = await freePorts(1);
  world = await RowWorld.start((daemon) => {
    const none = { minimumServiceCount: 0 };
    daemon.configure('reader', { command: 'while read line; do echo "got $line"; done', ...none });
    daemon.configure('writer', { command: 'seq 1 1500; exec sleep 1000', ...none });
    daemon.configure('port', {
      command: 'exec sleep 1000',
      ramMB: 48,
      cpu: 9,
      availablePorts: { min: port, max: port },
      ...none,
    });
  });
});
afterEach(async () => {
  for (const { id } of await world.daemon.api.instances()) await remove(id);
});
afterAll(() => world.stop());

const anError = refusal();
const MISSING = 'zzzzzz';

async function create(configurationName: string): Promise<InstanceInfo> {
  const { status, json } = await world.call('POST /instances', { body: { configurationName } });
  expect(status).toBe(201);
  return instanceInfoSchema.parse(json);
}
async function get(id: string): Promise<InstanceInfo> {
  return instanceInfoSchema.parse((await world.call(`GET /instances/${id}`)).json);
}
const untilState = (id: string, state: InstanceInfo['state']): Promise<InstanceInfo> =>
  until(async () => {
    const info = await get(id);
    expect(info.state, info.message ?? '').toBe(state);
    return info;
  });
async function running(configurationName: string): Promise<InstanceInfo> {
  return untilState((await create(configurationName)).id, 'ONLINE');
}
const remove = (id: string) => world.call(`DELETE /instances/${id}`);
const putState = (id: string, body: unknown) => world.call(`PUT /instances/${id}/state`, { body });
const lifecycle = (id: string, target: string) =>
  world.call(`PATCH /instances/${id}/lifecycle?target=${target}`);
async function logLines(id: string): Promise<unknown> {
  return (await world.call(`GET /instances/${id}/logs?lines=1000`)).json;
}

describe('Instances', () => {
  it('GET /instances: 200 array of InstanceInfo, all instances active and stopped', async () => {
    const active = await running('reader');
    const stopped = await running('reader');
    await lifecycle(stopped.id, 'stop');
    await untilState(stopped.id, 'STOPPED');
    const { status, json } = await world.call('GET /instances');
    expect(status).toBe(200);
    expect(json).toMatchObject([
      { id: active.id, state: 'ONLINE' },
      { id: stopped.id, state: 'STOPPED' },
    ]);
  });

  it('POST /instances: 201 InstanceInfo (state CREATING), with every field of its table', async () => {
    const { status, json } = await world.call('POST /instances', { body: { configurationName: 'port' } });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      id: expect.stringMatching(/^[a-z0-9]{6}$/),
      configurationName: 'port',
      wrapperNodeId: 'node-a',
      hostAddress: '127.0.0.1',
      allocatedPort: port,
      state: 'CREATING',
      lastHeartbeat: expect.any(Number),
      processPid: null,
      allocatedRamMB: 48,
      allocatedCpu: 9,
      runtime: 'process',
    });
    const { id, lastHeartbeat } = instanceInfoSchema.parse(json);
    expect(Math.abs(Date.now() - lastHeartbeat)).toBeLessThan(60_000);
    expect((await untilState(id, 'ONLINE')).processPid).toBeGreaterThan(1);
  });

  it('POST /instances: 400 when the configuration name is unknown', async () => {
    const { status, json } = await world.call('POST /instances', { body: { configurationName: 'nope' } });
    expect([status, json]).toEqual([400, anError]);
  });

  it('POST /instances: 400 without configurationName, which is required', async () => {
    for (const body of [undefined, {}, { configurationName: 7 }, []])
      expect((await world.call('POST /instances', { body })).status).toBe(400);
  });

  it('GET /instances/{id}: 200 InstanceInfo', async () => {
    const { id } = await running('reader');
    const { status, json } = await world.call(`GET /instances/${id}`);
    expect(status).toBe(200);
    expect(json).toMatchObject({ id, configurationName: 'reader', state: 'ONLINE' });
  });

  it('GET, DELETE, logs, state, execute of a missing instance: 404 {error}', async () => {
    const calls: [string, unknown?][] = [
      [`GET /instances/${MISSING}`],
      [`DELETE /instances/${MISSING}`],
      [`GET /instances/${MISSING}/logs`],
      [`PUT /instances/${MISSING}/state`, { state: 'ONLINE' }],
      [`POST /instances/${MISSING}/execute`, { command: 'x' }],
      ['GET /instances/seven77'],
      ['GET /instances/short'],
    ];
    for (const [row, body] of calls) {
      const { status, json } = await world.call(row, { body });
      expect([row, status, json]).toEqual([row, 404, anError]);
    }
  });

  it('DELETE /instances/{id}: 200 {message, instanceId}; the record is removed, the process ended, its directory gone', async () => {
    const { id } = await running('reader');
    const { status, json } = await remove(id);
    expect([status, json]).toEqual([200, { message: expect.any(String), instanceId: id }]);
    expect((await world.call(`GET /instances/${id}`)).status).toBe(404);
    expect((await world.call('GET /instances')).json).toEqual([]);
    await until(async () => expect(await world.daemon.processes.marked()).toEqual([]));
  });

  it('GET /instances/{id}/logs: 200 {lines, totalLines, instanceId}, the most recent lines; lines default 100, min 1, max 1000', async () => {
    const { id } = await running('writer');
    await world.daemon.untilLogged(id, /^1500$/);
    const last = (count: number) => Array.from({ length: count }, (_, index) => String(1501 - count + index));
    for (const [query, count] of [
      ['', 100],
      ['?lines=1', 1],
      ['?lines=1000', 1000],
    ] as const) {
      const { status, json } = await world.call(`GET /instances/${id}/logs${query}`);
      expect([status, json]).toEqual([200, { lines: last(count), totalLines: 1500, instanceId: id }]);
    }
    for (const lines of ['0', '1001', '-1', 'x', '1.5', '1e2', '0x10', '%2B5', '%205', ''])
      expect((await world.call(`GET /instances/${id}/logs?lines=${lines}`)).status).toBe(400);
  });

  it('GET /instances/{id}/live-log: WebSocket upgrade, 101; the server pushes text frames of live log output', async () => {
    const { id } = await running('reader');
    const { frames } = await world.open(`/instances/${id}/live-log`);
    await world.call(`POST /instances/${id}/execute`, { body: { command: 'hello' } });
    await until(() => expect(frames).toContain('got hello'));
  });

  it('PUT /instances/{id}/state: 200 InstanceInfo (updated); lastHeartbeat is set from the body, or reset if omitted', async () => {
    const { id } = await running('reader');
    const set = await putState(id, { state: 'OFFLINE', lastHeartbeat: 12_345 });
    expect(set.status).toBe(200);
    expect(set.json).toMatchObject({ id, state: 'OFFLINE', lastHeartbeat: 12_345 });
    expect(await get(id)).toMatchObject({ state: 'OFFLINE', lastHeartbeat: 12_345 });
    const before = Date.now();
    const { lastHeartbeat } = instanceInfoSchema.parse((await putState(id, { state: 'OFFLINE' })).json);
    expect(lastHeartbeat).toBeGreaterThanOrEqual(before - 1);
    expect(lastHeartbeat).toBeLessThanOrEqual(Date.now());
  });

  it('PUT /instances/{id}/state: state is required, one of CREATING, ONLINE, OFFLINE, STOPPED', async () => {
    const { id } = await running('reader');
    for (const state of ['CREATING', 'OFFLINE', 'ONLINE', 'STOPPED'])
      expect(await putState(id, { state })).toMatchObject({ status: 200, json: { state } });
    for (const body of [undefined, {}, { state: 'online' }, { state: 1 }, { lastHeartbeat: 1 }])
      expect((await putState(id, body)).status).toBe(400);
  });

  it('PATCH /instances/{id}/lifecycle: 200 {message, instanceId, target} for start, stop and restart; the record is kept', async () => {
    const { id, processPid } = await running('reader');
    for (const [target, state] of [
      ['stop', 'STOPPED'],
      ['start', 'ONLINE'],
      ['restart', 'ONLINE'],
    ] as const) {
      const { status, json } = await lifecycle(id, target);
      expect([status, json]).toEqual([200, { message: expect.any(String), instanceId: id, target }]);
      await untilState(id, state);
    }
    await until(async () => {
      const info = await get(id);
      expect(info.state).toBe('ONLINE');
      expect(info.processPid).not.toBe(processPid);
    });
  });

  it('PATCH /instances/{id}/lifecycle: 400 when the target is invalid or missing', async () => {
    const { id } = await running('reader');
    for (const query of ['?target=kill', '?target=', '?target=STOP', ''])
      expect((await world.call(`PATCH /instances/${id}/lifecycle${query}`)).status).toBe(400);
    expect((await get(id)).state).toBe('ONLINE');
  });

  it('PATCH /instances/{id}/lifecycle: 400 when the instance is missing', async () => {
    const { status, json } = await lifecycle(MISSING, 'stop');
    expect([status, json]).toEqual([400, anError]);
  });

  it('POST /instances/{id}/execute: 200 {message, instanceId, command}; written to the standard input of the process', async () => {
    const { id } = await running('reader');
    const { status, json } = await world.call(`POST /instances/${id}/execute`, {
      body: { command: 'say hi' },
    });
    expect([status, json]).toEqual([200, { message: expect.any(String), instanceId: id, command: 'say hi' }]);
    await until(async () => expect(await logLines(id)).toMatchObject({ lines: ['got say hi'] }));
  });

  it('POST /instances/{id}/execute: 400 without command, which is required', async () => {
    const { id } = await running('reader');
    for (const body of [undefined, {}, { command: 7 }])
      expect((await world.call(`POST /instances/${id}/execute`, { body })).status).toBe(400);
  });
});

describe('States and transitions', () => {
  it('CREATING becomes ONLINE when the process has started', async () => {
    const created = await create('reader');
    expect([created.state, created.processPid]).toEqual(['CREATING', null]);
    const online = await untilState(created.id, 'ONLINE');
    expect(online.processPid).toBeGreaterThan(1);
  });

  it('PUT state STOPPED is deliberate: the process ends, the record is kept', async () => {
    const { id } = await running('reader');
    await putState(id, { state: 'STOPPED' });
    await until(async () => {
      expect(await get(id)).toMatchObject({ state: 'STOPPED', processPid: null });
      expect(await world.daemon.processes.marked()).toEqual([]);
    });
  });

  it('lastHeartbeat moves on while an instance is ONLINE', async () => {
    const { id, lastHeartbeat } = await running('reader');
    await until(async () => expect((await get(id)).lastHeartbeat).toBeGreaterThan(lastHeartbeat));
  });

  it('PUT state does not bring a deleted instance back', async () => {
    const { id } = await running('reader');
    await remove(id);
    expect((await putState(id, { state: 'ONLINE' })).status).toBe(404);
    expect((await world.call('GET /instances')).json).toEqual([]);
  });
});
