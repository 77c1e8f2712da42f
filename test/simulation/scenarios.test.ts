/** Single situations that a seed once found, each as short as possible. */
import { describe, expect, it } from 'vitest';
import { assignmentSchema } from '../../src/channel/protocol/messages.js';
import { Fleet, MASTER } from './fleet.js';
import type { Machine } from './machine/machine.js';
import { STOP_COMMAND } from './machine/program.js';
import type { Operation, ServiceShape } from './operator/operations.js';
import { Operator } from './operator/operator.js';
import { newSharedMetrics } from './simulate.js';

const metrics = newSharedMetrics();

interface Scene {
  readonly fleet: Fleet;
  readonly machine: Machine;
  readonly id: string;
  perform(operation: Operation): void;
}

const SHAPE: ServiceShape = {
  minimum: 1,
  maximum: undefined,
  ports: undefined,
  hostAddress: undefined,
  ramMB: 100,
  static: true,
  templates: [],
  node: undefined,
};

/** A fleet with one instance of one configuration, which is up. `masters`: so many machines, and each is a master. */
async function begin(shape: Partial<ServiceShape> = {}, masters = 1): Promise<Scene> {
  const fleet = new Fleet({ seed: 'scene', disorder: {}, isTraced: false, metrics, masters });
  const machine = fleet.addMachine();
  for (let number = 1; number < masters; number++) fleet.addMachine();
  const operator = new Operator(fleet);
  await fleet.scheduler.advance(1000);
  operator.perform({
    do: 'put',
    name: 'lobby',
    shape: { ...SHAPE, ...shape },
  });
  await fleet.scheduler.advance(1000 * masters);
  const [id] = machine.runtime.alive;
  if (id === undefined) expect.fail('nothing was started');
  return { fleet, machine, id, perform: (operation) => operator.perform(operation) };
}

describe('a fleet at a single moment', () => {
  it('restarts an instance once when its daemon is killed right after it did so', async () => {
    const { fleet, machine, perform } = await begin();
    perform({ do: 'lifecycle', pick: 0, targets: ['restart'] });
    while (machine.runtime.starts.length < 2) await fleet.scheduler.advance(0.1);
    // Its answer has come, and nothing more: what is written behind is lost.
    await fleet.scheduler.advance(4);
    fleet.kill(machine, 0);
    fleet.start(machine);
    await fleet.scheduler.advance(10_000);
    expect(machine.runtime.starts.map(({ run }) => run)).toEqual([1, 2]);
    expect(fleet.invariants.violation).toBeUndefined();
  });

  it('ends nothing that was started again right before its daemon was killed', async () => {
    const { fleet, machine, perform } = await begin();
    perform({ do: 'lifecycle', pick: 0, targets: ['stop'] });
    await fleet.scheduler.advance(2000);
    perform({ do: 'lifecycle', pick: 0, targets: ['start'] });
    while (machine.runtime.starts.length < 2) await fleet.scheduler.advance(0.1);
    await fleet.scheduler.advance(4);
    fleet.kill(machine, 0);
    fleet.start(machine);
    await fleet.scheduler.advance(10_000);
    expect(machine.runtime.starts).toHaveLength(2);
    expect(machine.runtime.signals).toHaveLength(1);
    expect(fleet.invariants.violation).toBeUndefined();
  });

  it('restarts one that hangs, and none when its daemon stood still or when all hang at once', async () => {
    const { fleet, machine, id } = await begin({
      minimum: 3,
      isWatched: true,
      readiness: { afterMs: 10, timeoutSeconds: 5 },
    });
    await fleet.scheduler.advance(60_000);
    fleet.stall(machine, 30_000);
    await fleet.scheduler.advance(90_000);
    expect(machine.runtime.signals).toEqual([]);
    fleet.hang(machine, id);
    await fleet.scheduler.advance(60_000);
    expect([machine.runtime.signals, machine.runtime.starts.length]).toEqual([[`${id} SIGTERM`], 4]);
    for (const each of machine.runtime.alive) fleet.hang(machine, each);
    await fleet.scheduler.advance(120_000);
    const said = [...fleet.invariants.book.instances.values()].map(
      ({ status }) => `${status.state} ${status.reason}`,
    );
    expect([machine.runtime.signals.length, said]).toEqual([1, Array(3).fill('ONLINE not-alive')]);
    fleet.calm();
    await fleet.scheduler.advance(30_000);
    const states = [...fleet.invariants.book.instances.values()].map(({ status }) => status.reason);
    expect([states, fleet.invariants.violation]).toEqual([[null, null, null], undefined]);
  });

  it('does not take the line of an earlier run for that of the run which it adopts', async () => {
    const { fleet, machine, id } = await begin({ readiness: { afterMs: 2000, timeoutSeconds: 60 } });
    const state = (): string | undefined => fleet.invariants.book.instances.get(id)?.status.state;
    await fleet.scheduler.advance(5000);
    expect(state()).toBe('ONLINE');
    fleet.crash(machine, id, 1, false);
    while (machine.runtime.starts.length < 2) await fleet.scheduler.advance(0.1);
    fleet.kill(machine, 0);
    fleet.start(machine);
    await fleet.scheduler.advance(1000);
    expect([state(), fleet.invariants.violation]).toEqual(['OFFLINE', undefined]);
    await fleet.scheduler.advance(5000);
    expect([state(), fleet.invariants.violation]).toEqual(['ONLINE', undefined]);
    expect(machine.runtime.starts).toHaveLength(2);
  });

  it('does not take that line either when no start could be kept on a full disk', async () => {
    const { fleet, machine, id } = await begin({ readiness: { afterMs: 2000, timeoutSeconds: 60 } });
    const state = (): string | undefined => fleet.invariants.book.instances.get(id)?.status.state;
    await fleet.scheduler.advance(5000);
    fleet.fill(machine, true);
    fleet.crash(machine, id, 1, false);
    while (machine.runtime.starts.length < 2) await fleet.scheduler.advance(0.1);
    fleet.kill(machine, 0);
    fleet.fill(machine, false);
    fleet.start(machine);
    await fleet.scheduler.advance(1000);
    expect([state(), fleet.invariants.violation]).toEqual(['CREATING', undefined]);
    await fleet.scheduler.advance(5000);
    expect([state(), fleet.invariants.violation]).toEqual(['ONLINE', undefined]);
    expect(machine.runtime.starts).toHaveLength(2);
  });

  it('waits for the master after a crash when its full disk did not keep what the run was made from', async () => {
    const { fleet, perform } = await begin();
    const machine = fleet.addMachine();
    fleet.templates.change('base');
    await fleet.scheduler.advance(1000);
    fleet.fill(machine, true);
    perform({ do: 'put', name: 'proxy', shape: { ...SHAPE, templates: ['base'], node: 1 } });
    while (machine.runtime.starts.length < 1) await fleet.scheduler.advance(0.1);
    fleet.kill(machine, 0);
    fleet.fill(machine, false);
    fleet.templates.change('base');
    fleet.start(machine);
    await fleet.scheduler.advance(20);
    fleet.cut(machine, ['up', 'down']);
    for (const id of machine.runtime.alive) fleet.crash(machine, id, 1, false);
    await fleet.scheduler.advance(5000);
    expect([machine.runtime.starts.length, fleet.invariants.violation]).toEqual([1, undefined]);
    fleet.heal(machine);
    await fleet.scheduler.advance(10_000);
    expect([machine.runtime.starts.length, fleet.invariants.violation]).toEqual([2, undefined]);
  });

  it('stops what it adopts as that was started, when its daemon was killed right after the start', async () => {
    const { fleet, perform } = await begin();
    const machine = fleet.addMachine();
    await fleet.scheduler.advance(1000);
    const stopped = { stopCommand: 'ignored', stopTimeoutSeconds: 2 } as const;
    perform({ do: 'put', name: 'proxy', shape: { ...SHAPE, ...stopped, node: 1 } });
    while (machine.runtime.starts.length < 1) await fleet.scheduler.advance(0.1);
    fleet.kill(machine, 0);
    fleet.cut(machine, ['up', 'down']);
    fleet.start(machine);
    await fleet.scheduler.advance(100);
    fleet.stop(machine, true);
    await fleet.scheduler.advance(5000);
    const [id] = machine.runtime.starts.map(({ instanceId }) => instanceId);
    expect(machine.runtime.written).toEqual([`${id} ${STOP_COMMAND}\n`]);
    expect(machine.runtime.signals).toEqual([`${id} SIGTERM`]);
    expect(fleet.invariants.violation).toBeUndefined();
  });

  it('restarts what crashes on a master that was started while etcd is away', async () => {
    const { fleet, machine, id } = await begin({ node: 0 }, 3);
    fleet.masters?.etcd.goDown();
    fleet.kill(machine, 0);
    fleet.start(machine);
    await fleet.scheduler.advance(1000);
    fleet.crash(machine, id, 1, false);
    await fleet.scheduler.advance(5000);
    expect(fleet.daemons.get(machine.nodeId)?.master).toBeUndefined();
    expect([machine.runtime.starts.length, fleet.invariants.violation]).toEqual([2, undefined]);
    fleet.masters?.etcd.goUp();
    await fleet.scheduler.advance(30_000);
    expect(fleet.invariants.book.instances.get(id)?.status).toMatchObject({ state: 'ONLINE', restarts: 1 });
    expect([machine.runtime.starts.length, fleet.invariants.violation]).toEqual([2, undefined]);
  });

  it('starts with the copy of a storage that is waited for, once it fails', async () => {
    const { fleet, machine, perform } = await begin();
    const change = () => perform({ do: 'change-template', name: 'world' });
    change();
    perform({ do: 'put', name: 'proxy', shape: { ...SHAPE, templates: ['world'] } });
    await fleet.scheduler.advance(1000);
    perform({ do: 'fail-storage', outage: 'slow', forMs: 60_000 });
    change();
    for (const pick of [0, 1]) perform({ do: 'lifecycle', pick, targets: ['restart'] });
    await fleet.scheduler.advance(1000);
    perform({ do: 'fail-storage', outage: 'down', forMs: 60_000 });
    await fleet.scheduler.advance(10_000);
    expect(machine.runtime.starts.map(({ run }) => run)).toEqual([1, 1, 2, 2]);
    expect(fleet.invariants.violation).toBeUndefined();
  });

  it('brings a master to the next leader when it loses etcd before anybody leads', async () => {
    const { fleet, machine } = await begin({ node: 0 }, 3);
    const { masters } = fleet;
    const path = masters?.paths.get(machine.nodeId);
    if (masters === undefined || path === undefined) expect.fail('there is one master');
    // Nobody can be elected.
    masters.etcd.isFull = true;
    for (const each of fleet.machines.values()) fleet.kill(each, 0);
    await fleet.scheduler.advance(10_000);
    for (const each of fleet.machines.values()) fleet.start(each);
    await fleet.scheduler.advance(2000);
    path.cut(['up', 'down']);
    masters.etcd.isFull = false;
    await fleet.scheduler.advance(60_000);
    expect(masters.leader).toBeDefined();
    expect(masters.terms.holder?.nodeId).not.toBe(machine.nodeId);
    expect(fleet.invariants.book.nodes.get(machine.nodeId)?.condition).toBe('connected');
    expect(fleet.invariants.violation).toBeUndefined();
  });

  it('says that an instance is stopped only when a daemon that is killed would still know of it', async () => {
    const { fleet, machine, id, perform } = await begin();
    machine.disk.latencyMs = 200;
    perform({ do: 'lifecycle', pick: 0, targets: ['stop'] });
    while (fleet.invariants.book.instances.get(id)?.status.state !== 'STOPPED')
      await fleet.scheduler.advance(1);
    const kept = assignmentSchema.parse(machine.disk.entries.get(`assignments/${id}`)?.value);
    expect(kept.goal).toBe('stop');
    expect(fleet.daemons.get(MASTER)?.isReady).toBe(true);
  });
});
