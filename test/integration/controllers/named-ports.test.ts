/** Instances with several ports, from the configuration to the start on their node. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { portsText } from '../../../src/model/fields/ports.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const ARENA: ConfigurationInput = {
  name: 'arena',
  command: 'serve',
  ramMB: 10,
  cpu: 1,
  runtime: 'process',
  minimumServiceCount: 0,
  availablePorts: { min: 30_000, max: 30_005 },
  ports: {
    query: { next: 1, protocol: 'udp' },
    rcon: { min: 30_100, max: 30_101, protocol: 'tcp' },
  },
};

let clock: FakeClock;
let plane: ControlPlane;
let node: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  plane = new ControlPlane({ clock });
  await plane.start();
  node = await plane.addNode('alpha', { capacity: { maxRamMB: 1024, maxCpu: 1000 } });
});

afterEach(() => plane.stop());

async function create(name = 'arena'): Promise<string> {
  const { id } = await plane.master.led().controllers.creations.create(name);
  await clock.advance(1000);
  return id;
}

const record = (id: string) => plane.records().find((one) => one.id === id);
const portsOfIt = (id: string): string =>
  `${record(id)?.placement?.port} ${portsText(record(id)?.placement ?? {})}`;

describe('an instance with several ports', () => {
  it('gets all of them, shares none with another one, and is told which range has no more', async () => {
    await plane.putConfiguration(ARENA);
    expect(portsOfIt(await create())).toBe('30000 query=30001/udp rcon=30100/tcp');
    expect(portsOfIt(await create())).toBe('30002 query=30003/udp rcon=30101/tcp');
    const third = await create();
    expect(record(third)?.status.message).toBe('0/1 nodes fit: 1 without a free port rcon in 30100-30101');
    expect(plane.describe()).toContain('arena CREATING no-node-fits -:-');
    const view = plane.master.led().controllers.decisions.placementOf(third);
    expect(view).toMatchObject({ ports: { name: 'rcon', min: 30_100, max: 30_101 }, portHoldersTotal: 2 });
  });

  it('says which neighbour lacks', async () => {
    await plane.putConfiguration({ ...ARENA, availablePorts: { min: 30_000, max: 30_000 } });
    await plane.putConfiguration({
      ...ARENA,
      name: 'other',
      ports: {},
      availablePorts: { min: 30_001, max: 30_001 },
    });
    await create('other');
    const id = await create();
    expect(record(id)?.status.message).toBe(
      '0/1 nodes fit: 1 without a free port in 30000-30000 with query 1 above',
    );
    expect(plane.master.led().controllers.decisions.placementOf(id)?.portHolders).toMatchObject([
      { port: 30_001, configurationName: 'other' },
    ]);
  });

  it('keeps the others where another program holds one of them', async () => {
    await plane.putConfiguration(ARENA);
    node.foreignPorts.add(30_100);
    const id = await create();
    expect(portsOfIt(id)).toBe('30000 query=30001/udp rcon=30101/tcp');
    expect(plane.describe()).toEqual(['arena ONLINE - alpha:30000']);
  });

  it('moves with its neighbour', async () => {
    await plane.putConfiguration(ARENA);
    node.foreignPorts.add(30_001);
    expect(portsOfIt(await create())).toBe('30002 query=30003/udp rcon=30100/tcp');
  });

  it('gets one that comes free later, however long ago its own was found busy', async () => {
    await plane.putConfiguration({
      ...ARENA,
      availablePorts: { min: 30_000, max: 30_000 },
      ports: { rcon: { min: 30_100, max: 30_101 } },
    });
    for (const port of [30_100, 30_101]) node.foreignPorts.add(port);
    const id = await create();
    await clock.advance(120_000);
    expect(record(id)?.status.reason).toBe('port-busy');
    node.foreignPorts.delete(30_101);
    await clock.advance(70_000);
    expect(record(id)?.status.state).toBe('ONLINE');
    expect(portsOfIt(id)).toBe('30000 rcon=30101/both');
  });

  it('takes ports that are added by a restart in place, and keeps those that it has', async () => {
    await plane.putConfiguration({ ...ARENA, static: true, ports: {} });
    const id = await create();
    await plane.putConfiguration({ ...ARENA, static: true });
    await plane.master.led().controllers.updates.update(id);
    await clock.advance(2000);
    expect(portsOfIt(id)).toBe('30000 query=30001/udp rcon=30100/tcp');
    expect(node.runtime.specOf(id)?.run).toBe(2);
    await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(1000);
    expect(portsOfIt(await create())).toBe('30002 query=30003/udp rcon=30101/tcp');
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(1000);
    expect(portsOfIt(id)).toBe('30000 query=30001/udp rcon=30100/tcp');
  });

  it('takes its numbers under other names, which nothing else could give it', async () => {
    const one = { min: 30_100, max: 30_100 };
    const two = { min: 30_101, max: 30_101 };
    await plane.putConfiguration({ ...ARENA, static: true, ports: { a: one, b: two } });
    const id = await create();
    await plane.putConfiguration({ ...ARENA, static: true, ports: { c: one, a: two } });
    await plane.master.led().controllers.updates.update(id);
    await clock.advance(2000);
    expect(portsOfIt(id)).toBe('30000 a=30101/both c=30100/both');
    expect(record(id)?.status.state).toBe('ONLINE');
  });

  it('tries the number below a busy neighbour again after some seconds', async () => {
    await plane.putConfiguration({ ...ARENA, availablePorts: { min: 30_000, max: 30_000 } });
    node.foreignPorts.add(30_001);
    const first = await create();
    expect(record(first)?.status.reason).toBe('port-busy');
    await plane.master.writer.remove(first);
    node.foreignPorts.delete(30_001);
    await clock.advance(3000);
    const id = await create();
    expect(record(id)?.status.message).toContain('(1 of them held by other programs)');
    await clock.advance(6000);
    expect(record(id)?.status.state).toBe('ONLINE');
  });

  it('moves only the port that is busy, and why names it, however long ago it was found', async () => {
    await plane.putConfiguration({
      ...ARENA,
      ports: { rcon: { min: 30_100, max: 30_100, protocol: 'tcp' } },
    });
    node.foreignPorts.add(30_100);
    const id = await create();
    await clock.advance(120_000);
    expect(record(id)?.status).toMatchObject({ reason: 'port-busy', busyPort: 'rcon' });
    expect(portsOfIt(id)).toBe('30000 rcon=30100/tcp');
    const view = plane.master.led().controllers.decisions.placementOf(id);
    expect(view?.ports).toEqual({ name: 'rcon', min: 30_100, max: 30_100 });
  });

  it('says what a static instance lacks at home beside the ports that it keeps there', async () => {
    const ports = { query: { min: 30_200, max: 30_200 } };
    await plane.putConfiguration({ ...ARENA, static: true, ports });
    const id = await create();
    await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(1000);
    await plane.putConfiguration({ ...ARENA, name: 'other', ports: { rcon: { min: 30_100, max: 30_100 } } });
    await create('other');
    await plane.putConfiguration({
      ...ARENA,
      static: true,
      ports: { ...ports, rcon: { min: 30_100, max: 30_100 } },
    });
    await plane.master.led().controllers.updates.update(id);
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(1000);
    expect(record(id)?.status.message).toBe('0/1 nodes fit: 1 without a free port rcon in 30100-30100');
  });

  it('needs no main port', async () => {
    const { availablePorts: _none, ...fields } = ARENA;
    await plane.putConfiguration({ ...fields, ports: { rcon: { min: 30_100, max: 30_100 } } });
    const id = await create();
    expect(portsOfIt(id)).toBe('null rcon=30100/both');
    node.foreignPorts.add(30_100);
    await plane.master.writer.setLifecycle(id, 'restart');
    await clock.advance(1000);
    expect(record(id)?.status.reason).toBe('port-busy');
  });
});
