/** Master and wrapper together when things come at the wrong moment: what each such case once broke. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Installation } from '../../../src/runtime/installation/local-installation.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };

describe('the control plane at the wrong moment', () => {
  let clock: FakeClock;
  let store: FlakyStore;
  let nodeStore: FlakyStore;
  let gate: Gate;
  let plane: ControlPlane;
  let node: TestNode;
  /** How long an install and a look at a port take. */
  let installMs: number;
  /** Lines of the log at level error. */
  let errors: string[];

  beforeEach(async () => {
    clock = new FakeClock();
    store = new FlakyStore(clock);
    nodeStore = new FlakyStore(clock);
    gate = new Gate();
    installMs = 0;
    errors = [];
    plane = new ControlPlane({
      clock,
      logger: pino({ level: 'error' }, { write: (line) => errors.push(JSON.parse(line).msg) }),
      masterStore: store,
      adaptInstallation: slow,
      beforePortCheck: pause,
      adaptTransport: (transport) => new GatedTransport(transport, gate),
    });
    await plane.start();
    node = await plane.addNode('alpha', { nodeStore });
  });

  afterEach(async () => {
    store.latencyMs = 0;
    store.isFull = false;
    nodeStore.isFull = false;
    installMs = 0;
    await plane.stop();
  });

  async function pause(): Promise<void> {
    if (installMs > 0) await new Promise<void>((resolve) => clock.setTimer(installMs, resolve));
  }

  function slow(installation: Installation): Installation {
    return {
      ...installation,
      install: async (...parameters) => {
        await pause();
        return installation.install(...parameters);
      },
    };
  }

  const settle = (): Promise<void> => clock.advance(300);

  async function one(): Promise<string> {
    await settle();
    const [id] = plane.records().map((record) => record.id);
    return id ?? expect.fail('nothing was created');
  }

  it('ends nothing when an instance crashed while the master was away', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 3 });
    await settle();
    const [crashed, ...others] = node.runtime.alive;
    gate.shut();
    node.runtime.end(crashed ?? '', { code: 1, signal: null });
    await clock.advance(1000);
    store.latencyMs = 5;
    gate.reset();
    await clock.advance(5000);
    expect(node.runtime.signals).toEqual([]);
    expect(node.runtime.alive.toSorted()).toEqual([crashed ?? '', ...others].toSorted());
    expect(node.runtime.starts).toHaveLength(4);
  });

  it('lets a stop that comes after stop and start win, and says that it is stopped', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await settle();
    await plane.master.writer.setLifecycle(id, 'stop');
    await settle();
    gate.shut();
    await plane.master.writer.setLifecycle(id, 'start');
    await plane.master.writer.setLifecycle(id, 'stop');
    gate.open();
    await settle();
    expect(plane.describe()).toEqual(['lobby STOPPED stopped alpha:-']);
  });

  it('never starts an instance elsewhere while its node may be starting it', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, maximumServiceCount: 1 });
    const id = await one();
    await plane.master.writer.setLifecycle(id, 'restart');
    gate.shut();
    await plane.master.writer.reportState(id, { state: 'STOPPED' });
    await clock.advance(7000);
    const beta = await plane.addNode('beta', { nodeStore: new FlakyStore(clock) });
    await plane.master.writer.setLifecycle(id, 'start');
    await settle();
    expect(beta.runtime.starts.map(({ instanceId }) => instanceId)).not.toContain(id);
    gate.open();
    await clock.advance(20_000);
    expect(plane.records().find((record) => record.id === id)?.placement?.nodeId).toBe('alpha');
  });

  it('uses another port that came free, not only the one that was busy', async () => {
    node.foreignPorts.add(30000);
    node.foreignPorts.add(30001);
    await plane.putConfiguration({ ...SERVICE, availablePorts: { min: 30000, max: 30001 } });
    await settle();
    const [record] = plane.records();
    expect(record?.status.reason).toBe('port-busy');
    const held = record?.placement?.port ?? 0;
    node.foreignPorts.delete(held === 30000 ? 30001 : 30000);
    await clock.advance(130_000);
    expect(plane.describe()).toEqual([`lobby ONLINE - alpha:${held === 30000 ? 30001 : 30000}`]);
  });

  it('moves away from a busy port that an earlier master was told of', async () => {
    node.foreignPorts.add(30000);
    await plane.putConfiguration({ ...SERVICE, availablePorts: { min: 30000, max: 30000 } });
    await settle();
    expect(plane.describe()).toEqual(['lobby CREATING port-busy alpha:30000']);
    const [record] = plane.records();
    const wide = { ...SERVICE, availablePorts: { min: 30000, max: 30009 } };
    await plane.putConfiguration(wide);
    await plane.master.writer.remove(record?.id ?? '');
    await settle();
    // The new one has met the busy port as well, and the master that knew of it is gone.
    gate.shut();
    await plane.replaceMaster();
    gate.reset();
    await clock.advance(3000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30001']);
  });

  it('places what waits for RAM as soon as a stopped instance has given its own back', async () => {
    const small = await plane.addNode('small', {
      capacity: { maxRamMB: 100, maxCpu: 100 },
      nodeStore: new FlakyStore(clock),
    });
    await plane.putConfiguration({ ...SERVICE, nodes: ['small'], minimumServiceCount: 0 });
    const { id: first } = await plane.master.led().controllers.creations.create('lobby');
    const { id: second } = await plane.master.led().controllers.creations.create('lobby');
    await settle();
    expect(small.runtime.alive).toEqual([first]);
    small.runtime.stubborn.add(first);
    await plane.master.writer.reportState(first, { state: 'STOPPED' });
    await clock.advance(9000);
    expect(small.runtime.alive).toEqual([first]);
    await clock.advance(2000);
    expect(small.runtime.alive).toEqual([second]);
  });

  it('replaces what a lost node held below a maximum once, not again and again', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 2, maximumServiceCount: 2 });
    await settle();
    gate.shut();
    await clock.advance(600_000);
    expect(plane.records()).toHaveLength(4);
    gate.reset();
    await clock.advance(10_000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-']);
    expect(node.runtime.starts).toHaveLength(2);
  });

  it('says again why an instance does not run when its node was silent on a connection that held', async () => {
    node.runtime.failWith = 'out of processes';
    await plane.putConfiguration(SERVICE);
    await clock.advance(60_000);
    const before = plane.records()[0]?.status;
    expect(before).toMatchObject({ reason: 'start-failed' });
    gate.shut();
    await clock.advance(8000);
    expect(plane.describe()).toContain('lobby OFFLINE node-lost alpha:-');
    gate.open();
    await clock.advance(3000);
    expect(plane.records()[0]?.status).toMatchObject({
      reason: before?.reason,
      message: before?.message,
    });
  });

  it('creates the last instance that a maximum allows once, however many ask for it at the same time', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, maximumServiceCount: 2 });
    await settle();
    store.latencyMs = 20;
    const asked = Promise.allSettled(
      [1, 2, 3].map(() => plane.master.led().controllers.creations.create('lobby')),
    );
    await settle();
    expect((await asked).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
    expect(plane.records()).toHaveLength(2);
  });

  it('creates nothing for a minimum that a request under way will reach', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, maximumServiceCount: 1 });
    const id = await one();
    // Until then the enforcer would be slow to replace what it has created.
    await clock.advance(120_000);
    store.latencyMs = 50;
    const asked = plane.master.writer
      .remove(id)
      .then(() => plane.master.led().controllers.creations.create('lobby'));
    await settle();
    const { id: created } = await asked;
    await settle();
    expect(plane.records().map((record) => record.id)).toEqual([created]);
  });

  it('gives the RAM of an instance that says that it is stopped to nobody before its node says so', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, static: true });
    installMs = 500;
    const id = await one();
    gate.shut();
    await plane.master.writer.reportState(id, { state: 'STOPPED' });
    await settle();
    expect(plane.describe()).toEqual(['lobby STOPPED reported alpha:-']);
    expect(plane.master.usedOf('alpha').ramMB).toBe(100);
    gate.open();
    await clock.advance(1000);
    expect(plane.describe()).toEqual(['lobby STOPPED stopped alpha:-']);
    expect(plane.master.usedOf('alpha').ramMB).toBe(0);
  });

  it('marks at once what is wanted again on a node that is lost', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, static: true });
    const id = await one();
    gate.shut();
    await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(10_000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-']);
    await plane.master.writer.setLifecycle(id, 'start');
    await settle();
    expect(plane.describe()).toEqual(['lobby OFFLINE node-lost alpha:-']);
  });

  it('leaves no directory of an instance that is deleted while it is installed', async () => {
    installMs = 2000;
    const order: string[] = [];
    const { installs, removed } = node;
    installs.push = (...ids) => order.push(...ids.map(() => 'installed'));
    removed.push = (...ids) => order.push(...ids.map(() => 'removed'));
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await clock.advance(500);
    await plane.master.writer.remove(id);
    await clock.advance(500);
    expect(plane.records().map((record) => record.desired.goal)).toEqual(['remove']);
    await clock.advance(3000);
    expect(order.at(-1)).toBe('removed');
    expect(order).toContain('installed');
    expect(plane.records()).toEqual([]);
    expect(node.runtime.starts).toEqual([]);
  });

  it('starts nothing after Ctrl-C, not even what was about to start', async () => {
    installMs = 500;
    await plane.putConfiguration({ ...SERVICE, availablePorts: { min: 30000, max: 30009 } });
    // The install is over, the look at the port is not.
    await clock.advance(700);
    await plane.master.term?.controllers.stop();
    const stopped = node.wrapper.stopInstances(() => undefined, new AbortController().signal);
    await clock.advance(5000);
    await stopped;
    expect(node.installs).toHaveLength(1);
    expect(node.runtime.starts).toEqual([]);
  });

  it('takes a creation while a slow disk still writes its configuration', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    store.latencyMs = 500;
    const written = plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0, command: 'newer' });
    await clock.settle();
    const created = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(5000);
    await written;
    const newest = plane.master.state.configurations.get('lobby')?.value.hash;
    expect((await created).revision).toBe(newest);
  });

  it('takes two requests for one instance while the disk is slow', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await settle();
    store.latencyMs = 500;
    const answers = Promise.all([
      plane.master.writer.setLifecycle(id, 'restart'),
      plane.master.writer.setLifecycle(id, 'restart'),
    ]);
    await clock.advance(5000);
    await answers;
    expect(plane.records()[0]?.desired.restartToken).toBe(2);
  });

  it('asks a store that takes no placement more and more rarely, says so once, and places all when it does', async () => {
    await plane.master.nodeWriter.cordon('alpha');
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 20 });
    await settle();
    await plane.master.nodeWriter.uncordon('alpha');
    store.isFull = true;
    await clock.advance(60_000);
    expect(store.failures).toBeGreaterThan(0);
    // Each of them has a delay of its own that is doubled, from 50 ms on.
    expect(store.failures).toBeLessThan(20 * 12);
    expect(errors.filter((line) => line.startsWith('placement failed'))).toHaveLength(1);
    store.isFull = false;
    await clock.advance(60_000);
    expect(node.runtime.alive).toHaveLength(20);
  });

  it('stops a wrapper whose disk is full', async () => {
    nodeStore.isFull = true;
    await plane.putConfiguration(SERVICE);
    await settle();
    expect(node.runtime.alive).toHaveLength(1);
    await node.wrapper.stop();
    expect(node.runtime.alive).toHaveLength(1);
  });

  it('drops an assignment whose record goes in the moment in which a returning node is told of it', async () => {
    node.runtime.failWith = 'out of processes';
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1 });
    const id = await one();
    await plane.master.writer.remove(id);
    await plane.replaceMaster();
    node.runtime.failWith = undefined;
    await clock.advance(120_000);
    const held = plane.records().map((record) => record.id);
    expect([...node.wrapper.inUse().instanceIds]).toEqual(held);
  });
});
