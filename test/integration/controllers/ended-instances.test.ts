/** Instances that end by themselves: they give their ports back, and go in time. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const HOUR = 3_600_000;
const SERVICE = {
  name: 'lobby',
  runtime: 'process',
  command: 'run',
  ramMB: 100,
  cpu: 10,
  availablePorts: { min: 30_000, max: 30_002 },
};

let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  plane = new ControlPlane({ clock, isResynced: false });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const up = (): InstanceRecord[] => plane.records().filter(({ status }) => status.state === 'ONLINE');
const stopped = (): InstanceRecord[] => plane.records().filter(({ status }) => status.state === 'STOPPED');
const portsOf = (records: readonly InstanceRecord[]) => records.map(({ placement }) => placement?.port);

async function create(): Promise<string> {
  const creating = plane.master.led().controllers.creations.create('lobby');
  await clock.advance(1000);
  return (await creating).id;
}

/** The program of the one instance that is up reports itself STOPPED. */
async function quit(): Promise<string> {
  const [record] = up();
  if (record === undefined) expect.fail('nothing is up');
  await plane.master.writer.reportState(record.id, { state: 'STOPPED' });
  await clock.advance(1000);
  return record.id;
}

/** So much time by the wall clock, and enough by every other one that it is noticed. */
async function pass(ms: number): Promise<void> {
  clock.jumpWallClock(ms);
  await clock.advance(61_000);
}

/** The process of an instance ends, and is not started again. */
async function finish(id: string): Promise<void> {
  alpha.runtime.end(id, { code: 0, signal: null });
  await clock.advance(1000);
}

describe('programs that report themselves STOPPED', () => {
  it('do not use up the ports of their service, however many they are', async () => {
    await plane.putConfiguration(SERVICE);
    await clock.advance(1000);
    for (let round = 0; round < 12; round++) {
      await quit();
      await clock.advance(61_000);
      expect(up(), `after ${round + 1} of them`).toHaveLength(1);
    }
    expect(portsOf(stopped()).every((port) => port === null)).toBe(true);
    expect(stopped()).toHaveLength(10);
  });

  it('are known by the newest, whatever a clock that was ahead has noted', async () => {
    await plane.putConfiguration(SERVICE);
    await clock.advance(1000);
    const early: string[] = [];
    for (let round = 0; round < 10; round++) {
      early.push(await quit());
      await clock.advance(61_000);
    }
    clock.jumpWallClock(-HOUR);
    const late = await quit();
    await clock.advance(61_000);
    expect(stopped().map(({ id }) => id)).toContain(late);
    expect(early.filter((id) => plane.master.state.instances.get(id) === undefined)).toEqual([early[0]]);
  });

  it('can be started again, with a port', async () => {
    await plane.putConfiguration(SERVICE);
    await clock.advance(1000);
    const id = await quit();
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(2000);
    expect(up().map((record) => record.id)).toContain(id);
    expect(new Set(portsOf(up()))).toEqual(new Set([30_000, 30_001]));
    await pass(30 * HOUR);
    expect(up().map((record) => record.id)).toContain(id);
  });

  it('get a port for the next start, whatever is reported of them meanwhile', async () => {
    await plane.putConfiguration(SERVICE);
    await clock.advance(1000);
    const id = await quit();
    await plane.master.writer.reportState(id, { state: 'ONLINE' });
    expect(plane.master.usedOf('alpha').ramMB).toBe(100);
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(2000);
    expect(new Set(portsOf(up()))).toEqual(new Set([30_000, 30_001]));
  });

  it('keep what they have when they are static, and so does what a client stopped', async () => {
    await plane.putConfiguration({ ...SERVICE, static: true });
    await clock.advance(1000);
    await quit();
    expect(plane.describe()).toEqual(['lobby STOPPED stopped alpha:30000']);
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    for (const id of [await create(), await create()]) await plane.master.writer.setLifecycle(id, 'stop');
    await pass(30 * HOUR);
    expect(new Set(portsOf(stopped()))).toEqual(new Set([30_000, 30_001, 30_002]));
  });
});

describe('instances that finish', () => {
  const JOB = { ...SERVICE, restartPolicy: 'never' as const, minimumServiceCount: 0 };

  it('give their ports to the next ones, and all but the newest go after a day', async () => {
    await plane.putConfiguration(JOB);
    const made: string[] = [];
    for (let round = 0; round < 5; round++) {
      made.push(await create());
      expect(portsOf(up())).toEqual([30_000]);
      await finish(made.at(-1) ?? '');
    }
    await pass(23 * HOUR);
    expect(plane.records()).toHaveLength(5);
    await pass(2 * HOUR);
    expect(plane.records().map(({ id }) => id)).toEqual([made.at(-1)]);
    expect(alpha.removed.toSorted()).toEqual(made.slice(0, -1).toSorted());
  });

  it('stay finished with a content that would have started them again: their RAM may be given away', async () => {
    await plane.putConfiguration(JOB);
    const id = await create();
    await finish(id);
    expect(plane.master.usedOf('alpha').ramMB).toBe(0);
    await plane.putConfiguration({ ...JOB, restartPolicy: 'always', command: 'mended' });
    await clock.advance(61_000);
    const inForce = plane.master.state.configurations.get('lobby')?.value.hash;
    expect(plane.records().map(({ revision }) => revision)).toEqual([inForce]);
    expect(plane.describe()).toEqual(['lobby STOPPED exited alpha:-']);
    await plane.master.writer.setLifecycle(id, 'start');
    await clock.advance(2000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
    expect(alpha.runtime.starts).toHaveLength(2);
  });

  it('get a port for the next start, whatever is reported of them meanwhile', async () => {
    await plane.putConfiguration(JOB);
    const id = await create();
    await finish(id);
    await plane.master.writer.reportState(id, { state: 'ONLINE' });
    await plane.master.writer.setLifecycle(id, 'restart');
    await clock.advance(2000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
  });

  it('stay as long as the minimum counts on them: another one would be a restart', async () => {
    await plane.putConfiguration({ ...JOB, minimumServiceCount: 2 });
    await clock.advance(1000);
    const before = up().map(({ id }) => id);
    for (const id of before) await finish(id);
    await pass(50 * HOUR);
    expect(plane.records().map(({ id }) => id)).toEqual(before);
    expect(alpha.runtime.starts).toHaveLength(2);
    await plane.putConfiguration({ ...JOB, minimumServiceCount: 1 });
    await clock.advance(2000);
    expect(plane.records()).toHaveLength(1);
    expect(alpha.runtime.starts).toHaveLength(2);
  });
});
