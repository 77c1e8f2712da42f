/** Nodes that are lost and come back, over a real master with wrappers, fake runtimes and a virtual clock. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const PORTS = { min: 30_000, max: 30_003 };
const SERVICE = {
  name: 'lobby',
  runtime: 'process',
  command: 'run',
  ramMB: 100,
  cpu: 10,
  availablePorts: PORTS,
};

let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;
let gates: Map<string, Gate>;

beforeEach(async () => {
  clock = new FakeClock();
  gates = new Map(['alpha', 'beta'].map((nodeId) => [nodeId, new Gate()]));
  plane = new ControlPlane({
    clock,
    isResynced: false,
    adaptTransport: (transport, nodeId) => {
      const gate = gates.get(nodeId);
      return gate === undefined ? transport : new GatedTransport(transport, gate);
    },
  });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  for (const gate of gates.values()) gate.reset();
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const cut = (nodeId: string) => gates.get(nodeId)?.shut();
const heal = (nodeId: string) => gates.get(nodeId)?.reset();
const alive = (): string[] => [...plane.nodes.values()].flatMap(({ runtime }) => runtime.alive).toSorted();
const wanted = (): InstanceRecord[] => plane.records().filter(({ desired }) => desired.goal === 'run');
const ids = (): string[] =>
  wanted()
    .map(({ id }) => id)
    .toSorted();
const replacementOf = (id: string): string => {
  const found = wanted().find(({ replaces }) => replaces === id);
  if (found === undefined) expect.fail(`nothing replaces ${id}`);
  return found.id;
};

async function service(fields: object = {}): Promise<string[]> {
  await plane.putConfiguration({ ...SERVICE, ...fields });
  await clock.advance(500);
  return alive();
}

async function players(id: string, count: number): Promise<void> {
  await plane.master.writer.reportState(id, { state: 'ONLINE', players: count });
  await clock.advance(2000);
}

/** alpha is lost, and beta has what replaces its instances. */
async function lose(): Promise<void> {
  if (!plane.nodes.has('beta')) await plane.addNode('beta');
  cut('alpha');
  await clock.advance(10_000);
}

async function comeBack(): Promise<void> {
  heal('alpha');
  await clock.advance(10_000);
}

describe('a node that is lost and comes back', () => {
  it('has its instances again after each of five times, and nothing beside them', async () => {
    const before = await service({ minimumServiceCount: 2 });
    for (let round = 0; round < 5; round++) {
      await lose();
      expect(wanted(), 'replaced while it was lost').toHaveLength(4);
      await comeBack();
      expect(alive()).toEqual(before);
      expect(plane.records()).toHaveLength(2);
    }
    expect(alpha.runtime.starts).toHaveLength(2);
  });

  it('leaks no port under a maximum, however often it is lost', async () => {
    const before = await service({ minimumServiceCount: 2, maximumServiceCount: 2 });
    for (let round = 0; round < 5; round++) {
      await lose();
      expect(alive().filter((id) => !before.includes(id))).toHaveLength(2);
      await comeBack();
      expect(alive()).toEqual(before);
      expect(plane.records()).toHaveLength(2);
    }
  });

  it('has its instances again after an upgrade that took longer than it may', async () => {
    const before = await service({ minimumServiceCount: 3 });
    await plane.addNode('beta');
    await alpha.wrapper.stop();
    await clock.advance(90_000);
    expect(wanted()).toHaveLength(6);
    await plane.replaceWrapper(alpha);
    await clock.advance(10_000);
    expect(ids()).toEqual(before);
    expect(alive()).toEqual(before);
  });

  it('leaves alone a replacement that a client stopped and started again', async () => {
    const [old = ''] = await service({ minimumServiceCount: 1 });
    await lose();
    const made = replacementOf(old);
    await plane.master.writer.setLifecycle(made, 'stop');
    await clock.advance(5000);
    await plane.master.writer.setLifecycle(made, 'start');
    await clock.advance(5000);
    await comeBack();
    expect(alive()).toEqual([old, made].toSorted());
  });

  it('gives way to a replacement that has players', async () => {
    const [old = ''] = await service();
    await lose();
    const made = replacementOf(old);
    await players(made, 3);
    await comeBack();
    expect(alive()).toEqual([made]);
    expect(plane.records()).toHaveLength(1);
  });

  it('keeps its instance beside a used replacement while both have players, and no longer', async () => {
    const [old = ''] = await service();
    await players(old, 1);
    await lose();
    const made = replacementOf(old);
    await players(made, 2);
    await comeBack();
    await clock.advance(600_000);
    expect(alive()).toEqual([old, made].toSorted());
    await players(made, 0);
    expect(alive()).toEqual([old]);
  });

  it('never loses an instance that a client made to one that the enforcer made', async () => {
    await service({ minimumServiceCount: 0 });
    const creating = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(500);
    const { id: mine } = await creating;
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1 });
    await lose();
    const made = replacementOf(mine);
    await players(made, 2);
    await comeBack();
    expect(alive()).toEqual([mine, made].toSorted());
    await players(made, 0);
    expect(alive()).toEqual([mine]);
  });

  it('leaves the surplus that a client made alone', async () => {
    const [old = ''] = await service();
    const creating = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(500);
    const { id: mine } = await creating;
    await lose();
    expect(wanted()).toHaveLength(3);
    await comeBack();
    expect(alive()).toEqual([old, mine].toSorted());
  });

  it('is waited for until it has reported what it holds', async () => {
    const [old = ''] = await service();
    await lose();
    const made = replacementOf(old);
    alpha.runtime.failWith = 'out of processes';
    alpha.runtime.end(old, { code: 1, signal: null });
    await comeBack();
    expect(alive()).toEqual([made]);
    expect(ids()).toEqual([made]);
  });

  it('keeps one of each family when every node is lost in turn', async () => {
    const [old = ''] = await service();
    await lose();
    await plane.addNode('gamma');
    cut('beta');
    await clock.advance(10_000);
    expect(alive()).toHaveLength(3);
    heal('beta');
    await clock.advance(10_000);
    expect(wanted()).toHaveLength(2);
    await comeBack();
    expect(alive()).toEqual([old]);
    expect(plane.records()).toHaveLength(1);
  });

  it('is not mistaken for a standing original while the node of its replacement is drained', async () => {
    const [old = ''] = await service();
    await lose();
    const first = replacementOf(old);
    await plane.addNode('gamma');
    await plane.master.nodeWriter.drain('beta', 0);
    await clock.advance(5000);
    expect(ids()).not.toContain(first);
    expect(plane.nodes.get('gamma')?.runtime.alive).toHaveLength(1);
    await comeBack();
    expect(alive()).toEqual([old]);
    expect(plane.records()).toHaveLength(1);
  });

  it('keeps a healthy process that a client asked to start while it was lost', async () => {
    const [id = ''] = await service({ static: true });
    await lose();
    await plane.master.writer.setLifecycle(id, 'start');
    await comeBack();
    expect(alpha.runtime.alive).toEqual([id]);
    expect(alpha.runtime.signals).toEqual([]);
    expect(alpha.runtime.starts).toHaveLength(1);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
  });

  it('restarts what a client asked to restart while it was lost', async () => {
    const [id = ''] = await service({ static: true });
    await lose();
    await plane.master.writer.setLifecycle(id, 'restart');
    await comeBack();
    expect(alpha.runtime.starts).toHaveLength(2);
  });
});

describe('a maximum that was lowered', () => {
  it('removes what is above it: first what nobody uses, and of that what the enforcer made', async () => {
    const [first = '', second = ''] = await service({ minimumServiceCount: 2 });
    const creating = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(500);
    const { id: mine } = await creating;
    await players(second, 4);
    await service({ minimumServiceCount: 1, maximumServiceCount: 2 });
    await clock.advance(2000);
    expect(ids()).toEqual([second, mine].toSorted());
    expect(plane.records().map(({ id }) => id)).not.toContain(first);
    expect(alpha.removed).toContain(first);
  });

  it('stops static ones, whose files are kept', async () => {
    await service({ minimumServiceCount: 2, static: true });
    await service({ minimumServiceCount: 1, maximumServiceCount: 1, static: true });
    await clock.advance(2000);
    expect(
      plane
        .records()
        .map(({ status }) => status.state)
        .toSorted(),
    ).toEqual(['ONLINE', 'STOPPED']);
    expect(alpha.removed).toEqual([]);
  });
});
