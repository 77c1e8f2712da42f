/** Cordon, drain and forget over a real master with wrappers, fake runtimes and a virtual clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { NO_FILES } from '../../support/control-plane/explain-facts.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;
const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };

let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;
/** Greatest and least number of live processes since it was reset. */
let most = 0;
let least = Number.POSITIVE_INFINITY;

beforeEach(async () => {
  clock = new FakeClock();
  plane = new ControlPlane({ clock });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const writes = () => plane.master.nodeWriter;
const nodeOf = (id: string) => plane.master.state.nodes.get(id)?.value;
const alive = (): string[] => [...plane.nodes.values()].flatMap(({ runtime }) => runtime.alive);
const wanted = (): InstanceRecord[] => plane.records().filter(({ desired }) => desired.goal === 'run');
const waitingFor = (id: string) => plane.master.term?.controllers.drains.progressOf(id)?.waitingFor;

/** The daemon of a node ends and does not come back. */
async function end(node: TestNode): Promise<void> {
  await node.wrapper.stop();
  plane.nodes.delete(node.nodeId);
  await clock.advance(10);
}

/** Lets `ms` pass in small steps, watching how many processes live. */
async function pass(ms: number): Promise<void> {
  for (let done = 0; done < ms; done += 100) {
    await clock.advance(100);
    most = Math.max(most, alive().length);
    least = Math.min(least, alive().length);
  }
}

async function service(fields: object = {}): Promise<void> {
  await plane.putConfiguration({ ...SERVICE, ...fields });
  await clock.advance(500);
  most = alive().length;
  least = most;
}

/** The instance reports that it is ONLINE with so many players. */
async function report(id: string, players: number): Promise<void> {
  await plane.master.writer.reportState(id, { state: 'ONLINE', players });
}

describe('a drain', () => {
  it('has every replacement ONLINE before the old instance is stopped, a few at a time', async () => {
    await service({ minimumServiceCount: 10 });
    const beta = await plane.addNode('beta');
    await writes().drain('alpha', 10 * MINUTE);
    await pass(20_000);
    expect(plane.describe()).toEqual(Array.from({ length: 10 }, () => 'lobby ONLINE - beta:-'));
    expect([alpha.runtime.alive.length, beta.runtime.alive.length]).toEqual([0, 10]);
    expect(least).toBe(10);
    expect(most).toBeLessThanOrEqual(12);
    expect(beta.runtime.starts).toHaveLength(10);
    expect(nodeOf('alpha')).toMatchObject({ cordoned: true, drain: { doneAt: expect.any(Number) } });
    expect(plane.master.term?.controllers.drains.progressOf('alpha')).toMatchObject({
      isDrained: true,
      left: 0,
      waitingFor: [],
    });
    const revision = await plane.store.barrier();
    await clock.advance(10 * MINUTE);
    expect(await plane.store.barrier(), 'a drained world writes nothing').toBe(revision);
  });

  it('waits for players to leave, says so, and stops at once when they have', async () => {
    await service();
    await plane.addNode('beta');
    const [old] = wanted();
    await report(old?.id ?? '', 3);
    await writes().drain('alpha', 10 * MINUTE);
    await pass(6 * MINUTE);
    expect(alive()).toHaveLength(2);
    expect(waitingFor('alpha')).toEqual([`waiting for 3 players on ${old?.id}, 4 min left`]);
    await report(old?.id ?? '', 0);
    await pass(1000);
    expect(alpha.runtime.alive).toEqual([]);
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-']);
  });

  it('waits for players no longer than the deadline, also when the wall clock is set back', async () => {
    await service();
    await plane.addNode('beta');
    const [old] = wanted();
    await report(old?.id ?? '', 3);
    await writes().drain('alpha', 2 * MINUTE);
    await pass(MINUTE);
    clock.jumpWallClock(-3_600_000);
    await pass(MINUTE - 1000);
    expect(alpha.runtime.alive).toEqual([old?.id]);
    await pass(2000);
    expect(alpha.runtime.alive).toEqual([]);
  });

  it('goes on where it was when the master is replaced', async () => {
    await service({ minimumServiceCount: 3 });
    const beta = await plane.addNode('beta');
    for (const { id } of wanted()) await report(id, 1);
    await writes().drain('alpha', 10 * MINUTE);
    await pass(5000);
    expect(alive()).toHaveLength(6);
    await plane.replaceMaster();
    await pass(5 * MINUTE);
    expect(alive()).toHaveLength(6);
    expect(beta.runtime.starts).toHaveLength(3);
    await pass(5 * MINUTE);
    expect(plane.describe()).toEqual(Array.from({ length: 3 }, () => 'lobby ONLINE - beta:-'));
    expect(nodeOf('alpha')?.drain?.doneAt).not.toBeNull();
  });

  it('leaves what has nowhere to go where it is, says why, and moves it when there is a place', async () => {
    await service({ minimumServiceCount: 2 });
    await plane.addNode('beta', { capacity: { maxRamMB: 100, maxCpu: 1000 } });
    await writes().drain('alpha', 0);
    await pass(5000);
    expect(alpha.runtime.alive).toHaveLength(1);
    const [left] = alpha.runtime.alive;
    expect(waitingFor('alpha')).toEqual([
      `${left} (lobby) has nowhere to go: 0/2 nodes fit: 1 cordoned (alpha), 1 short of RAM (need 100 MB, free 0 MB)`,
    ]);
    expect(nodeOf('alpha')?.drain?.doneAt).toBeNull();
    await plane.addNode('gamma');
    await pass(5000);
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-', 'lobby ONLINE - gamma:-']);
    expect(plane.master.term?.controllers.drains.progressOf('alpha')?.isDrained).toBe(true);
  });

  it('never exceeds a maximum: there the old one is stopped first', async () => {
    await service({ minimumServiceCount: 2, maximumServiceCount: 2 });
    const beta = await plane.addNode('beta');
    await writes().drain('alpha', 10 * MINUTE);
    for (let round = 0; round < 50; round++) {
      await clock.advance(100);
      expect(wanted().length).toBeLessThanOrEqual(2);
    }
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-', 'lobby ONLINE - beta:-']);
    expect(beta.runtime.starts).toHaveLength(2);
  });

  it('moves instances above the minimum too, and leaves static ones', async () => {
    await service({ minimumServiceCount: 0 });
    await plane.putConfiguration({ ...SERVICE, name: 'world', static: true });
    await clock.advance(500);
    const created = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(500);
    await created;
    await plane.addNode('beta');
    await writes().drain('alpha', 0);
    await pass(5000);
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-', 'world ONLINE - alpha:-']);
    const world = plane.records().find(({ configurationName }) => configurationName === 'world');
    expect(plane.master.term?.controllers.drains.progressOf('alpha')).toMatchObject({
      isDrained: true,
      waitingFor: [`1 static instance stays: ${world?.id}`],
    });
    // "no longer drained" comes by itself when something is started there again.
    await plane.master.writer.setLifecycle(world?.id ?? '', 'stop');
    await pass(15_000);
    expect(plane.master.term?.controllers.drains.progressOf('alpha')).toMatchObject({
      isDrained: true,
      waitingFor: [],
    });
  });

  it('does not stop an instance whose replacement cannot be started, whatever the deadline', async () => {
    await service();
    const beta = await plane.addNode('beta');
    beta.runtime.failWith = 'out of processes';
    await writes().drain('alpha', 0);
    await pass(30_000);
    const [old] = alpha.runtime.alive;
    expect(old).toBeDefined();
    expect(waitingFor('alpha')?.[0]).toMatch(
      new RegExp(`^waiting for \\w{6}, which replaces ${old}: CREATING, .*out of processes`),
    );
    beta.runtime.failWith = undefined;
    await pass(90_000);
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-']);
  });

  it('replaces at once what is not up, and does not replace twice what its lost node held', async () => {
    await service({ minimumServiceCount: 1 });
    const beta = await plane.addNode('beta');
    alpha.runtime.failWith = 'out of processes';
    alpha.runtime.end(alpha.runtime.alive[0] ?? '', { code: 1, signal: null });
    await clock.advance(500);
    await writes().drain('alpha', 10 * MINUTE);
    await pass(5000);
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-']);
    expect(beta.runtime.starts).toHaveLength(1);
  });

  it('is called off by uncordon: what is up stays, replacements that nobody uses go', async () => {
    await service({ minimumServiceCount: 3 });
    await plane.addNode('beta');
    const before = wanted().map(({ id }) => id);
    for (const id of before) await report(id, 1);
    await writes().drain('alpha', 10 * MINUTE);
    await pass(5000);
    expect(alive()).toHaveLength(6);
    await writes().uncordon('alpha');
    await pass(20_000);
    expect(alive().toSorted()).toEqual(before.toSorted());
    expect(wanted()).toHaveLength(3);
    expect(nodeOf('alpha')).not.toHaveProperty('drain');
    expect(nodeOf('alpha')?.cordoned).toBe(false);
    expect(plane.master.term?.controllers.drains.progressOf('alpha')).toBeUndefined();
  });

  it('of two nodes at once moves everything to the third, and loses nothing on the way', async () => {
    await service({ minimumServiceCount: 4 });
    await plane.addNode('beta');
    await writes().drain('alpha', 10 * MINUTE);
    await clock.advance(50);
    const gamma = await plane.addNode('gamma');
    await writes().drain('beta', 10 * MINUTE);
    await pass(30_000);
    expect(plane.describe()).toEqual(Array.from({ length: 4 }, () => 'lobby ONLINE - gamma:-'));
    expect(gamma.runtime.alive).toHaveLength(4);
    expect(least).toBe(4);
  });
});

describe('a cordon', () => {
  it('keeps what runs, lets it restart in place and take another port, and admits nothing new', async () => {
    await service({ availablePorts: { min: 30000, max: 30001 } });
    await writes().cordon('alpha');
    const [id] = alpha.runtime.alive;
    alpha.foreignPorts.add(30000);
    alpha.runtime.end(id ?? '', { code: 1, signal: null });
    await clock.advance(10_000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30001']);
    const created = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(500);
    const record = await created;
    expect(record.status.message).toBe('0/1 nodes fit: 1 cordoned (alpha)');
    const { verdict, advice } = await plane.master.explainer(NO_FILES).instance(record.id);
    expect(verdict).toContain('cordoned (alpha)');
    expect(advice).toContain('cluster uncordon');
    await writes().uncordon('alpha');
    await clock.advance(500);
    expect(plane.describe()).toHaveLength(2);
    expect(alpha.runtime.alive).toHaveLength(1);
  });

  it('is told of an instance by why, and so is a drain', async () => {
    await service();
    const [record] = wanted();
    const why = async () => (await plane.master.explainer(NO_FILES).instance(record?.id ?? '')).notes;
    await writes().cordon('alpha');
    expect(await why()).toEqual([
      'Its node alpha is cordoned: it keeps what it has and gets no new instances.',
    ]);
    await writes().drain('alpha', 0);
    await clock.advance(500);
    expect(await why()).toEqual([
      `Its node alpha is being drained: ${record?.id} (lobby) has nowhere to go: 0/1 nodes fit: 1 cordoned (alpha).`,
    ]);
  });

  it('of a node that nobody knows is refused', async () => {
    for (const wish of [writes().cordon('nope'), writes().uncordon('nope'), writes().drain('nope', 0)])
      await expect(wish).rejects.toMatchObject({ code: 'DRV_NODE_UNKNOWN' });
  });
});

describe('forgetting a node', () => {
  it('removes it and what it held, so that the rest of the cluster makes up for it', async () => {
    await service({ minimumServiceCount: 2 });
    const beta = await plane.addNode('beta');
    await end(alpha);
    const held = wanted().map(({ id }) => id);
    expect(await writes().forget('alpha', { force: false })).toEqual({
      instances: held.toSorted(),
      statics: [],
    });
    await pass(5000);
    expect(nodeOf('alpha')).toBeUndefined();
    expect(plane.describe()).toEqual(['lobby ONLINE - beta:-', 'lobby ONLINE - beta:-']);
    expect(beta.runtime.alive).toHaveLength(2);
    expect(plane.master.usedOf('alpha')).toMatchObject({ ramMB: 0, cpu: 0 });
    await alpha.store.close();
  });

  it('is refused while it is connected or has files of static instances, unless forced', async () => {
    await plane.putConfiguration({ ...SERVICE, name: 'world', static: true });
    await clock.advance(500);
    const [world] = wanted();
    await expect(writes().forget('alpha', { force: false })).rejects.toMatchObject({
      code: 'DRV_NODE_IN_USE',
      message: expect.stringContaining('is connected'),
    });
    await end(alpha);
    await expect(writes().forget('alpha', { force: false })).rejects.toMatchObject({
      code: 'DRV_NODE_IN_USE',
      message: expect.stringContaining(`1 static instance (${world?.id})`),
    });
    expect(await writes().forget('alpha', { force: true })).toEqual({
      instances: [world?.id],
      statics: [world?.id],
    });
    await clock.advance(500);
    expect(nodeOf('alpha')).toBeUndefined();
    expect(plane.describe()).toEqual(['world CREATING no-node-fits -:-']);
    await alpha.store.close();
  });

  it('of one that is connected ends its session; it may come back as a new node, with nothing on it', async () => {
    await service();
    await plane.addNode('beta');
    const [old] = wanted();
    await writes().forget('alpha', { force: true });
    await pass(20_000);
    expect(plane.records().map(({ id }) => id)).not.toContain(old?.id);
    expect(alpha.runtime.alive).not.toContain(old?.id);
    expect(nodeOf('alpha')).toMatchObject({ condition: 'connected', cordoned: false });
    expect(wanted()).toHaveLength(1);
  });

  it('is refused for the master itself and for a node that nobody knows', async () => {
    await plane.addNode('master');
    await clock.advance(10);
    for (const [id, code] of [
      ['master', 'DRV_NODE_IN_USE'],
      ['nope', 'DRV_NODE_UNKNOWN'],
    ] as const)
      await expect(writes().forget(id, { force: true })).rejects.toMatchObject({ code });
  });
});
