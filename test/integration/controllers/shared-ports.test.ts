/** Instances of one configuration that share a port, from the file to the start on their node. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { portsText } from '../../../src/model/fields/ports.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const WEB: ConfigurationInput = {
  name: 'web',
  command: 'serve',
  ramMB: 10,
  cpu: 1,
  runtime: 'process',
  minimumServiceCount: 0,
  availablePorts: { min: 30_000, max: 30_001 },
  sharePort: 'reuse',
};

let clock: FakeClock;
let plane: ControlPlane;
let node: TestNode;
let looks: number;

beforeEach(async () => {
  clock = new FakeClock();
  looks = 0;
  plane = new ControlPlane({
    clock,
    beforePortCheck: async () => {
      looks++;
    },
  });
  await plane.start();
  node = await plane.addNode('alpha', { capacity: { maxRamMB: 1024, maxCpu: 1000 } });
});

afterEach(() => plane.stop());

async function create(name = 'web'): Promise<string> {
  const { id } = await plane.master.led().controllers.creations.create(name);
  await clock.advance(1000);
  return id;
}

const record = (id: string) => plane.records().find((one) => one.id === id);
const portsOfIt = (id: string): string =>
  `${record(id)?.placement?.port} ${portsText(record(id)?.placement ?? {}) ?? '-'}`;

describe('instances that share a port', () => {
  it('have one port on a node, which no other configuration gets, and the first start alone looks at it', async () => {
    await plane.putConfiguration(WEB);
    for (let count = 0; count < 4; count++) expect(portsOfIt(await create())).toBe('30000 -');
    expect(plane.describe()).toEqual(Array.from({ length: 4 }, () => 'web ONLINE - alpha:30000'));
    expect(looks).toBe(1);
    await plane.putConfiguration({ ...WEB, name: 'shop' });
    expect(portsOfIt(await create('shop'))).toBe('30001 -');
    const { sharePort: _none, ...alone } = WEB;
    await plane.putConfiguration({ ...alone, name: 'other' });
    const third = await create('other');
    expect(record(third)?.status.message).toBe('0/1 nodes fit: 1 without a free port in 30000-30001');
  });

  it('share what is counted from it, and have the others for themselves', async () => {
    const ports = { tls: { next: 1 }, health: { min: 30_100, max: 30_101, protocol: 'tcp' } } as const;
    await plane.putConfiguration({ ...WEB, ports });
    expect(portsOfIt(await create())).toBe('30000 health=30100/tcp tls=30001/both');
    expect(portsOfIt(await create())).toBe('30000 health=30101/tcp tls=30001/both');
    const third = await create();
    expect(record(third)?.status.message).toBe('0/1 nodes fit: 1 without a free port health in 30100-30101');
  });

  it('look at it again when none is up, and go to another one together where a program holds it', async () => {
    await plane.putConfiguration(WEB);
    const ids = [await create(), await create()];
    for (const id of ids) await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(1000);
    node.foreignPorts.add(30_000);
    for (const id of ids) await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(2000);
    expect(ids.map(portsOfIt)).toEqual(['30001 -', '30001 -']);
    expect(plane.describe()).toEqual(['web ONLINE - alpha:30001', 'web ONLINE - alpha:30001']);
  });

  it('have a port on each node, another one where two nodes have one address', async () => {
    await plane.addNode('beta', { capacity: { maxRamMB: 1024, maxCpu: 1000 } });
    await plane.putConfiguration(WEB);
    for (let count = 0; count < 4; count++) await create();
    expect(plane.describe()).toEqual([
      'web ONLINE - alpha:30000',
      'web ONLINE - alpha:30000',
      'web ONLINE - beta:30001',
      'web ONLINE - beta:30001',
    ]);
  });

  it('give it back with the last of them', async () => {
    await plane.putConfiguration({ ...WEB, availablePorts: { min: 30_000, max: 30_000 } });
    const [first, second] = [await create(), await create()];
    const { sharePort: _none, ...alone } = WEB;
    await plane.putConfiguration({ ...alone, name: 'other', availablePorts: { min: 30_000, max: 30_000 } });
    const other = await create('other');
    await plane.master.writer.remove(first);
    await clock.advance(2000);
    expect(record(other)?.placement).toBeNull();
    await plane.master.writer.remove(second);
    await clock.advance(2000);
    expect(portsOfIt(other)).toBe('30000 -');
  });

  it('stay on it when they are static, and a start at once looks once', async () => {
    await plane.putConfiguration({ ...WEB, static: true });
    const ids = await Promise.all(
      [1, 2, 3].map(() => plane.master.led().controllers.creations.create('web')),
    );
    await clock.advance(2000);
    expect(ids.map(({ id }) => portsOfIt(id))).toEqual(['30000 -', '30000 -', '30000 -']);
    expect(looks).toBe(1);
    const [first] = ids;
    if (first === undefined) expect.fail('there is one');
    await plane.master.writer.setLifecycle(first.id, 'stop');
    await clock.advance(1000);
    await plane.putConfiguration({ ...WEB, name: 'shop', availablePorts: { min: 30_000, max: 30_000 } });
    expect(record(await create('shop'))?.placement).toBeNull();
    await plane.master.writer.setLifecycle(first.id, 'start');
    await clock.advance(1000);
    expect(portsOfIt(first.id)).toBe('30000 -');
  });

  it('wait while one still runs as it did before the port became a shared one', async () => {
    const { sharePort: _none, ...alone } = WEB;
    const readiness = { logLine: 'ready', timeoutSeconds: 1 };
    await plane.putConfiguration({ ...alone, readiness, stopTimeoutSeconds: 60 });
    const first = await create();
    await clock.advance(5000);
    expect(record(first)?.status.reason).toBe('not-ready');
    // Its socket does not allow a second one, which a look finds.
    node.runtime.stubborn.add(first);
    node.foreignPorts.add(30_000);
    await plane.putConfiguration({
      ...WEB,
      readiness,
      stopTimeoutSeconds: 60,
      availablePorts: { min: 30_000, max: 30_000 },
    });
    await clock.advance(1000);
    const second = await create();
    expect(node.runtime.alive).toEqual([first]);
    expect(record(second)?.status.message).toMatch(/^tcp port 30000 is held by another process/);
    node.foreignPorts.clear();
    node.runtime.end(first, { code: 0, signal: null });
    await clock.advance(60_000);
    expect(node.runtime.alive.toSorted()).toEqual([first, second].toSorted());
  });

  it('are started beside one whose own start its node forgot when it was killed', async () => {
    await plane.putConfiguration(WEB);
    const [known, other] = [await create(), await create()];
    const key = `handles/${known}`;
    const kept = Object((await node.store.get(key))?.value);
    await node.wrapper.stop();
    // Killed in the moment of the start: its run, and the ports of that run, never reached the disk.
    await node.store.transact([
      { do: 'put', key, value: { ...kept, run: 0, process: null, port: undefined } },
    ]);
    await plane.replaceWrapper(node);
    await clock.advance(1000);
    // To a look, the port is held by a program outside: by the one that goes on.
    node.foreignPorts.add(30_000);
    node.runtime.end(other, { code: 1, signal: null });
    await clock.advance(1000);
    expect(plane.describe()).toEqual(['web ONLINE - alpha:30000', 'web ONLINE - alpha:30000']);
  });
});
