/** The port of a static instance: its files may name the port, so the instance keeps it. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { NO_FILES } from '../../support/control-plane/explain-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

const RANGE = { min: 30_000, max: 30_002 };
const WORLD: ConfigurationInput = {
  name: 'world',
  command: 'serve',
  ramMB: 10,
  cpu: 1,
  runtime: 'process',
  static: true,
  minimumServiceCount: 0,
  availablePorts: RANGE,
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

const settle = (): Promise<void> => clock.advance(200);
const statusOf = (name: string) => plane.records().find((one) => one.configurationName === name)?.status;

async function createStopped(): Promise<string> {
  await plane.putConfiguration(WORLD);
  const { id } = await plane.master.led().controllers.creations.create('world');
  await settle();
  await plane.master.writer.setLifecycle(id, 'stop');
  await clock.advance(1000);
  return id;
}

describe('a static instance that has run', () => {
  it('waits for its port while another program holds it, also when it could have another one', async () => {
    const id = await createStopped();
    node.foreignPorts.add(30_000);
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(120_000);
    expect(plane.describe()).toEqual(['world CREATING port-busy alpha:30000']);
    expect(statusOf('world')).toMatchObject({ reason: 'port-busy', keepsPort: true });
    node.foreignPorts.clear();
    await clock.advance(6000);
    expect(plane.describe()).toEqual(['world ONLINE - alpha:30000']);
  });

  it('keeps its port from all others while it waits for a place', async () => {
    const id = await createStopped();
    await plane.putConfiguration({
      ...WORLD,
      name: 'big',
      static: false,
      ramMB: 1020,
      minimumServiceCount: 1,
    });
    await settle();
    await plane.master.writer.setLifecycle(id, 'start');
    await settle();
    expect(plane.describe()).toEqual(['big ONLINE - alpha:30001', 'world CREATING no-node-fits -:-']);
    await plane.putConfiguration({
      ...WORLD,
      name: 'small',
      static: false,
      ramMB: 1,
      minimumServiceCount: 1,
    });
    await settle();
    expect(plane.describe()).toContain('small ONLINE - alpha:30002');
  });
});

describe('a static instance that never ran', () => {
  it('gets another port, and a directory that is made for that port', async () => {
    node.foreignPorts.add(30_000);
    await plane.putConfiguration(WORLD);
    await plane.master.led().controllers.creations.create('world');
    await clock.advance(1000);
    expect(plane.describe()).toEqual(['world ONLINE - alpha:30001']);
  });
});

describe('a full range of ports', () => {
  it('is tried as a whole every few seconds, and why says how old the knowledge is', async () => {
    const range = [30_000, 30_001, 30_002];
    for (const port of range) node.foreignPorts.add(port);
    await plane.putConfiguration({ ...WORLD, static: false, minimumServiceCount: 1 });
    await clock.advance(3000);
    const explained = await plane.master.explainer(NO_FILES).instance(plane.records()[0]?.id ?? '');
    expect(explained.next).toMatch(
      /^No other port of 30000-30002 is free, as its node found up to [\d.]+ s ago\. The next try/,
    );
    node.foreignPorts.delete(30_000);
    await clock.advance(12_000);
    expect(plane.describe()).toEqual(['world ONLINE - alpha:30000']);
  });
});
