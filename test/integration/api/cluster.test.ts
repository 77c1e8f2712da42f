/** `/cluster/nodes` over a real master, with wrappers in this process. Its counts are those of placement. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { instanceInfoSchema } from '../../../src/model/instance.js';
import { ApiWorld, instanceRecord } from '../../support/api/api-world.js';
import { refusal } from '../../support/api/refusal.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

let world: ApiWorld;

beforeEach(async () => {
  world = await new ApiWorld().start();
  await world.server.start();
  await world.addNode('n1', { master: true });
  await world.addNode('a-worker', { condition: 'lost', conditionSince: 77, cordoned: true });
});
afterEach(() => world.stop());

const call = async (method: string, path: string, body?: unknown) => {
  const response = await world.call(method, path, body);
  return { status: response.status, body: await response.json() };
};
const anError = (status: number, text: string | RegExp) => ({
  status,
  body: refusal(expect.stringMatching(text)),
});

describe('GET /cluster/nodes', () => {
  it('answers a bare array by id, each with exactly the fields of the document, lost nodes included', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa', ramMB: 64, cpu: 10 }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb', ramMB: 100, cpu: 5 }));
    expect(await call('GET', '/cluster/nodes')).toEqual({
      status: 200,
      body: [
        { nodeId: 'a-worker', address: '10.0.0.9', master: false, resources: { usedRamMB: 0, usedCpu: 0 } },
        { nodeId: 'n1', address: '10.0.0.9', master: true, resources: { usedRamMB: 164, usedCpu: 15 } },
      ],
    });
  });
});

describe('what the client asks beside that', () => {
  it('is every node with its details, and what is gone; a restricted key sees its own instances in both', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa', configurationName: 'lobby' }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb', configurationName: 'other' }));
    world.drains.set('n1', {
      since: 1,
      deadline: 9,
      isDrained: false,
      left: 1,
      remainingMs: 5,
      waitingFor: ['bbbbbb has 3 players'],
    });
    expect(await call('GET', '/cluster/nodes?details=true')).toMatchObject({
      status: 200,
      body: [
        { nodeId: 'a-worker', condition: 'lost', cordoned: true, instances: 0 },
        { nodeId: 'n1', instances: 2, drain: { left: 1, waitingFor: ['bbbbbb has 3 players'] } },
      ],
    });
    expect(await call('GET', '/cluster/removed-configurations')).toMatchObject({
      body: [
        { name: 'lobby', instances: 1 },
        { name: 'other', instances: 1 },
      ],
    });
    const key = await world.addKey('narrow', 'READ', { configurations: ['lob*'] });
    const headers = { authorization: `Bearer ${key}` };
    const asNarrow = async (path: string) => (await fetch(`${world.url}${path}`, { headers })).json();
    expect(await asNarrow('/cluster/nodes?details=true')).toMatchObject([
      {},
      { instances: 1, drain: { left: 1, waitingFor: [] } },
    ]);
    expect(await asNarrow('/cluster/removed-configurations')).toEqual([{ name: 'lobby', instances: 1 }]);
  });
});

describe('GET /cluster/nodes/{id}', () => {
  it('adds its instances, oldest first, as GET /instances shows them, without those being removed', async () => {
    const { desired } = instanceRecord({ id: 'aaaaaa' });
    await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 3 }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb', createdAt: 2 }));
    await world.putInstance(instanceRecord({ id: 'cccccc', desired: { ...desired, goal: 'remove' } }));
    await world.putInstance(instanceRecord({ id: 'dddddd', placement: null }));
    world.beats.beat('n1', 9000);
    const { status, body } = await call('GET', '/cluster/nodes/n1');
    expect(status).toBe(200);
    expect(body).toMatchObject({ nodeId: 'n1', master: true, resources: { usedRamMB: 192 } });
    const { instances } = z.object({ instances: instanceInfoSchema.array() }).parse(body);
    expect(instances.map(({ id }) => id)).toEqual(['bbbbbb', 'aaaaaa']);
    expect(await call('GET', '/instances/aaaaaa')).toEqual({ status: 200, body: instances[1] });
    expect(instances[1]?.lastHeartbeat).toBe(9000);
  });

  it('shows an operator capacity, condition, runtimes and version beside that', async () => {
    expect(await call('GET', '/cluster/nodes/a-worker')).toEqual({
      status: 200,
      body: {
        nodeId: 'a-worker',
        address: '10.0.0.9',
        master: false,
        resources: { usedRamMB: 0, usedCpu: 0 },
        instances: [],
        capacity: { maxRamMB: 4096, maxCpu: 400 },
        condition: 'lost',
        conditionSince: 77,
        lastBeat: null,
        cordoned: true,
        drain: null,
        runtimes: [{ key: 'process', available: true, version: '1', reason: null }],
        advisoryLimits: null,
        usage: null,
        version: '0.0.0-test',
      },
    });
  });

  it('says what is used there, and why limits do not hold', async () => {
    await world.addNode('n2', { advisoryLimits: 'no control groups' });
    const MB = 1024 * 1024;
    world.usages.set('n2', { cpuSeconds: 9, cpuPercent: 12.34, memoryBytes: 45.4 * MB, processes: 3 });
    expect((await call('GET', '/cluster/nodes/n2')).body).toMatchObject({
      advisoryLimits: 'no control groups',
      usage: { cpuPercent: 12.3, memoryMB: 45, processes: 3 },
    });
  });

  it('answers 404 for a node that nobody knows, whatever its id looks like', async () => {
    expect(await call('GET', '/cluster/nodes/nope')).toEqual(anError(404, 'there is no node "nope"'));
    for (const id of ['N1', '..%2Fn1', '%00', '__proto__', 'constructor', 'x'.repeat(5000), '%3Cx%3E'])
      expect(await call('GET', `/cluster/nodes/${id}`)).toEqual(anError(404, /^there is no (such )?node/));
  });
});

describe('POST /cluster/nodes/{id}', () => {
  it('answers 400 for the serving node, 501 for another and 404 for none', async () => {
    const command = { command: 'instance list' };
    expect(await call('POST', '/cluster/nodes/n1', command)).toEqual(
      anError(400, /^cannot execute command on local node via API/),
    );
    expect(await call('POST', '/cluster/nodes/a-worker', command)).toEqual(anError(501, 'not implemented'));
    expect(await call('POST', '/cluster/nodes/nope', command)).toEqual(anError(404, 'no node "nope"'));
  });

  it.each([['{}'], ['{"command":7}'], ['[]'], ['']])(
    'answers 400 for the body %j, which has no command',
    async (body) => {
      for (const id of ['n1', 'a-worker', 'nope'])
        expect(await call('POST', `/cluster/nodes/${id}`, body)).toEqual(
          anError(400, /field command: must be a text|body: must be an object/),
        );
    },
  );
});

describe('what a master says is in use on a node', () => {
  it('is what placement counts: a stopped instance gives RAM and CPU back, a removed one when it is gone', async () => {
    const clock = new FakeClock();
    const plane = new ControlPlane({ clock, logger: pino({ level: 'silent' }) });
    await plane.start();
    const node = await plane.addNode('node-a');
    await plane.putConfiguration({
      name: 'hello',
      runtime: 'process',
      command: 'run',
      ramMB: 100,
      cpu: 10,
      minimumServiceCount: 0,
    });
    const { writer } = plane.master;
    const { creations } = plane.master.led().controllers;
    const created = Promise.all(['hello', 'hello', 'hello'].map((name) => creations.create(name)));
    await clock.advance(500);
    const [first, second] = await created;
    expect(plane.master.usedOf('node-a')).toMatchObject({ ramMB: 300, cpu: 30 });
    await writer.setLifecycle(first?.id ?? '', 'stop');
    await clock.advance(20_000);
    expect(plane.master.usedOf('node-a')).toMatchObject({ ramMB: 200, cpu: 20 });
    await writer.remove(second?.id ?? '');
    await clock.advance(20_000);
    expect(node.removed).toEqual([second?.id]);
    expect(plane.master.usedOf('node-a')).toMatchObject({ ramMB: 100, cpu: 10 });
    expect(plane.master.usedOf('nobody')).toMatchObject({ ramMB: 0, cpu: 0 });
    const stopped = plane.stop();
    await clock.advance(20_000);
    await stopped;
  });
});
