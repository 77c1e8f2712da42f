/** Master and wrapper together, with fake runtimes on a virtual clock: what the loop makes of declared counts. */
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ControlPlane, EVENTS_WRITTEN_MS, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };

describe('the control plane', () => {
  let clock: FakeClock;
  let plane: ControlPlane;
  let node: TestNode;

  beforeEach(async () => {
    clock = new FakeClock();
    plane = new ControlPlane({ clock });
    await plane.start();
    node = await plane.addNode('alpha');
  });

  afterEach(async () => {
    await plane.stop();
  });

  /** Lets everything that is due happen, without moving the clock. */
  const settle = (): Promise<void> => clock.advance(200);

  it('brings up the declared number and then does nothing', async () => {
    await plane.putConfiguration({
      ...SERVICE,
      minimumServiceCount: 3,
      availablePorts: { min: 30000, max: 30010 },
    });
    await settle();
    expect(plane.describe()).toEqual([
      'lobby ONLINE - alpha:30000',
      'lobby ONLINE - alpha:30001',
      'lobby ONLINE - alpha:30002',
    ]);
    await clock.advance(EVENTS_WRITTEN_MS);
    const revision = await plane.store.barrier();
    await clock.advance(60_000);
    expect(await plane.store.barrier()).toBe(revision);
    expect(node.runtime.starts).toHaveLength(3);
  });

  it('starts a crashed instance at once, then with a growing delay, under the same id', async () => {
    await plane.putConfiguration(SERVICE);
    await settle();
    const [id] = node.runtime.alive;
    node.runtime.end(id ?? '', { code: 1, signal: null });
    await clock.advance(1);
    expect(node.runtime.alive).toEqual([id]);
    node.runtime.end(id ?? '', { code: 1, signal: null });
    await clock.advance(1);
    expect(node.runtime.alive).toEqual([]);
    expect(plane.records()[0]?.status).toMatchObject({ state: 'OFFLINE', reason: 'exited', exitCode: 1 });
    expect(plane.records()[0]?.status.message).toMatch(/^exited with code 1, restart 2 in [\d.]+ s$/);
    await clock.advance(1000);
    expect(node.runtime.alive).toEqual([id]);
    expect(plane.records()).toHaveLength(1);
  });

  it('restarts a crashed instance at once when it left nothing behind, and signals nothing', async () => {
    await plane.putConfiguration(SERVICE);
    await settle();
    const [id] = node.runtime.alive;
    node.runtime.end(id ?? '', { code: 1, signal: null });
    await clock.advance(1);
    expect(node.runtime.starts).toHaveLength(2);
    expect(node.runtime.signals).toEqual([]);
    await clock.advance(300);
    expect(node.runtime.sweeps).toEqual([]);
    expect(node.runtime.alive).toEqual([id]);
  });

  it('counts few starts of a command that always exits at once', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1 });
    await settle();
    for (let second = 0; second < 120; second++) {
      for (const id of node.runtime.alive) node.runtime.end(id, { code: 1, signal: null });
      await clock.advance(1000);
    }
    expect(node.runtime.starts.length).toBeLessThanOrEqual(10);
    expect(plane.records()).toHaveLength(1);
  });

  it('says in numbers why nothing fits, and places the instance when it does', async () => {
    await plane.putConfiguration({ ...SERVICE, name: 'big', ramMB: 5000, nodes: ['small', 'beta'] });
    await plane.addNode('small', { capacity: { maxRamMB: 512, maxCpu: 100 } });
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({
      state: 'CREATING',
      reason: 'no-node-fits',
      message:
        "0/2 nodes fit: 1 not in the configuration's nodes, 1 short of RAM (need 5000 MB, free 512 MB)",
    });
    await plane.addNode('beta');
    await settle();
    expect(plane.describe()).toEqual(['big ONLINE - beta:-']);
  });

  it('moves to the next port when something foreign holds the first', async () => {
    node.foreignPorts.add(30000);
    await plane.putConfiguration({ ...SERVICE, availablePorts: { min: 30000, max: 30001 } });
    await settle();
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30001']);
  });

  it('says that the range is full, and uses a port that comes free', async () => {
    node.foreignPorts.add(30000);
    await plane.putConfiguration({ ...SERVICE, availablePorts: { min: 30000, max: 30000 } });
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({ state: 'CREATING', reason: 'port-busy' });
    expect(plane.records()[0]?.status.message).toContain('tcp port 30000 is held by another process');
    node.foreignPorts.clear();
    await clock.advance(6000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
  });

  it('never gives one port to two instances', async () => {
    await plane.putConfiguration({
      ...SERVICE,
      minimumServiceCount: 60,
      availablePorts: { min: 30000, max: 30049 },
    });
    await settle();
    const ports = plane.records().flatMap(({ placement }) => placement?.port ?? []);
    expect(new Set(ports).size).toBe(50);
    expect(ports).toHaveLength(50);
    const waiting = plane.records().filter(({ placement }) => placement === null);
    expect(waiting.map(({ status }) => status.message)).toEqual(
      Array.from({ length: 10 }, () => '0/1 nodes fit: 1 without a free port in 30000-30049'),
    );
  });

  it('adopts what runs when the wrapper is replaced, and starts nothing twice', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 2 });
    await settle();
    const pids = () =>
      plane
        .records()
        .map(({ status }) => status.pid)
        .toSorted();
    const before = pids();
    await plane.replaceWrapper(node);
    await settle();
    await plane.replaceMaster();
    await clock.advance(30_000);
    expect(node.runtime.starts).toHaveLength(2);
    expect(pids()).toEqual(before);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-']);
  });

  it('adopts what runs whatever ends of earlier runs its runtime remembers, and has the runtime forget those', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1 });
    await settle();
    const [instanceId = ''] = node.runtime.alive;
    const exit = { code: 1, signal: null, at: 0 };
    node.runtime.left = [0, -1].map((run) => ({ instanceId, run, process: null, exit }));
    await plane.replaceWrapper(node);
    await settle();
    expect(node.runtime.left).toEqual([]);
    // The end of an earlier run may also be found only now.
    node.runtime.left = [{ instanceId, run: 0, process: null, exit }];
    node.runtime.tellExit({ instanceId, run: 0 }, exit);
    await settle();
    expect(node.runtime.left).toEqual([]);
    expect(node.runtime.starts).toHaveLength(1);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-']);
  });

  it('leaves instances of a deleted configuration alone and replaces none of them', async () => {
    await plane.putConfiguration(SERVICE);
    await settle();
    await plane.removeConfiguration('lobby');
    await settle();
    const [id] = node.runtime.alive;
    node.runtime.end(id ?? '', { code: 1, signal: null });
    await settle();
    expect(node.runtime.alive).toEqual([id]);
    await plane.master.writer.remove(id ?? '');
    await settle();
    expect(plane.records()).toEqual([]);
    expect(node.runtime.alive).toEqual([]);
    expect(plane.master.state.revisions.size).toBe(0);
  });

  it('walks the stop ladder to SIGKILL, and keeps the record', async () => {
    await plane.putConfiguration({ ...SERVICE, static: true });
    await settle();
    const [id] = node.runtime.alive;
    node.runtime.stubborn.add(id ?? '');
    await plane.master.writer.setLifecycle(id ?? '', 'stop');
    await clock.advance(9000);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`]);
    expect(plane.records()[0]?.status).toMatchObject({ state: 'ONLINE', reason: 'stopping' });
    await clock.advance(1500);
    expect(node.runtime.signals).toEqual([`${id} SIGTERM`, `${id} SIGKILL`]);
    expect(plane.describe()).toEqual(['lobby STOPPED stopped alpha:-']);
  });

  it('starts a stopped instance again in place, and restarts one with a fresh directory', async () => {
    await plane.putConfiguration({
      ...SERVICE,
      minimumServiceCount: 0,
      availablePorts: { min: 30000, max: 30009 },
    });
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await settle();
    await plane.master.writer.setLifecycle(id, 'stop');
    await settle();
    expect(plane.describe()).toEqual(['lobby STOPPED stopped alpha:30000']);
    await plane.master.writer.setLifecycle(id, 'start');
    await settle();
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
    await plane.master.writer.setLifecycle(id, 'restart');
    await settle();
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:30000']);
    expect(node.installs).toEqual([id, id, id]);
    expect(node.runtime.starts).toHaveLength(3);
  });

  it('replaces a non-static instance that was stopped, but not a static one', async () => {
    await plane.putConfiguration({ ...SERVICE, name: 'fixed', static: true });
    await plane.putConfiguration(SERVICE);
    await settle();
    for (const { id } of plane.records()) await plane.master.writer.setLifecycle(id, 'stop');
    await clock.advance(1500);
    expect(plane.describe()).toEqual([
      'fixed STOPPED stopped alpha:-',
      'lobby ONLINE - alpha:-',
      'lobby STOPPED stopped alpha:-',
    ]);
  });

  it('holds the port of a deleted instance until its node confirmed that it is gone', async () => {
    await plane.putConfiguration({
      ...SERVICE,
      minimumServiceCount: 0,
      availablePorts: { min: 30000, max: 30009 },
    });
    const { id } = await plane.master.led().controllers.creations.create('lobby');
    await settle();
    node.runtime.stubborn.add(id);
    await plane.master.writer.remove(id);
    await settle();
    const other = await plane.master.led().controllers.creations.create('lobby');
    expect(other.placement?.port).toBe(30001);
    await clock.advance(11_000);
    expect(plane.records().map((record) => record.id)).toEqual([other.id]);
    expect(node.removed).toEqual([id]);
    const third = await plane.master.led().controllers.creations.create('lobby');
    expect(third.placement?.port).toBe(30000);
  });

  it('marks the instances of a silent node OFFLINE, replaces them, and has the returned ones again', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 2, nodes: [] });
    await settle();
    const beats = vi.spyOn(plane.master.beats, 'beat').mockImplementation(() => undefined);
    await clock.advance(5700);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-']);
    await clock.advance(400);
    expect(plane.records().filter(({ status }) => status.reason === 'node-lost')).toHaveLength(2);
    await plane.addNode('beta');
    await settle();
    beats.mockRestore();
    await clock.advance(10_000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-']);
    expect(node.runtime.starts).toHaveLength(2);
  });

  it('does not create a storm when new instances keep stopping themselves', async () => {
    await plane.putConfiguration(SERVICE);
    let created = 0;
    for (let second = 0; second < 60; second++) {
      await clock.advance(1000);
      for (const { id, status } of plane.records()) {
        if (status.state !== 'ONLINE') continue;
        created++;
        await plane.master.writer.reportState(id, { state: 'STOPPED' });
      }
    }
    expect(created).toBeGreaterThan(2);
    expect(created).toBeLessThanOrEqual(8);
  });

  it('removes what is above the maximum and creates no more', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 3 });
    await settle();
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, maximumServiceCount: 1 });
    await settle();
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-']);
    await expect(plane.master.led().controllers.creations.create('lobby')).rejects.toThrow(
      /maximumServiceCount/,
    );
  });

  it('says once what keeps many instances of a configuration from a place', async () => {
    const lines: { msg: string; instance?: string }[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line)) });
    const other = new ControlPlane({ clock, logger });
    await other.start();
    await other.addNode('small', { capacity: { maxRamMB: 5, maxCpu: 1000 } });
    await other.putConfiguration({ ...SERVICE, nodes: [], minimumServiceCount: 60 });
    await other.putConfiguration({ ...SERVICE, name: 'game', nodes: [], minimumServiceCount: 1 });
    await clock.advance(5000);
    expect(other.records().filter(({ status }) => status.reason === 'no-node-fits')).toHaveLength(61);
    const said = lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('cannot place'));
    expect(said.map((msg) => msg.replace(/^.*\((\w+)\): /, '$1 '))).toEqual([
      'lobby 0/1 nodes fit: 1 short of RAM (need 100 MB, free 5 MB)',
      'game 0/1 nodes fit: 1 short of RAM (need 100 MB, free 5 MB)',
    ]);
    await other.stop();
  });

  it('says that a template is missing', async () => {
    await plane.putConfiguration({
      ...SERVICE,
      templateInstallationConfig: { allOf: [{ group: 'games', name: 'lobby' }] },
    });
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({ state: 'CREATING', reason: 'template-missing' });
    expect(plane.records()[0]?.status.message).toContain('games/lobby');
  });

  it('says why a start fails, and tries again later', async () => {
    node.runtime.failWith = 'the working directory is gone';
    await plane.putConfiguration(SERVICE);
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({ state: 'CREATING', reason: 'start-failed' });
    expect(plane.records()[0]?.status.message).toMatch(/^the working directory is gone; next try in /);
    node.runtime.failWith = undefined;
    await clock.advance(2000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-']);
  });

  it('says it without where things lie on the node, for the message reaches clients', async () => {
    Object.assign(node.runtime, { start: async () => readFileSync('/no/such/root/running/abc123') });
    await plane.putConfiguration(SERVICE);
    await settle();
    expect(plane.records()[0]?.status).toMatchObject({
      reason: 'start-failed',
      message: expect.stringMatching(/^no such file or directory \(ENOENT\); next try in /),
    });
  });

  it('ignores jumps of the wall clock', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 2 });
    await settle();
    clock.jumpWallClock(3_600_000);
    await clock.advance(20_000);
    clock.jumpWallClock(-10 * 365 * 86_400_000);
    await clock.advance(20_000);
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-']);
    expect(node.runtime.starts).toHaveLength(2);
  });

  it('stops everything on Ctrl-C and brings it back with the node', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 2 });
    await settle();
    await plane.master.term?.controllers.stop();
    await node.wrapper.stopInstances(() => undefined, new AbortController().signal);
    expect(node.runtime.alive).toEqual([]);
    await plane.replaceWrapper(node);
    await plane.replaceMaster();
    await settle();
    expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-', 'lobby ONLINE - alpha:-']);
    expect(plane.records()).toHaveLength(2);
  });
});
