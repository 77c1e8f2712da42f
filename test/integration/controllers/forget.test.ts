/** Forgetting a node that holds much, or that is being used, over a real master whose disk is slow or full. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Conflict } from '../../../src/loop/reconciler.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { Gate, GatedTransport } from '../../support/cluster/gated-transport.js';
import { ControlPlane, type TestNode } from '../../support/control-plane/control-plane.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { placementOf } from '../../support/control-plane/placement.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };

let clock: FakeClock;
let store: FlakyStore;
let gate: Gate;
let plane: ControlPlane;
let alpha: TestNode;

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  gate = new Gate();
  plane = new ControlPlane({
    clock,
    masterStore: store,
    adaptTransport: (transport, nodeId) =>
      nodeId === 'alpha' ? new GatedTransport(transport, gate) : transport,
  });
  await plane.start();
  alpha = await plane.addNode('alpha');
});

afterEach(async () => {
  store.latencyMs = 0;
  store.isFull = false;
  gate.open();
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

const forget = (force = true) => plane.master.nodeWriter.forget('alpha', { force });
const instances = () => plane.master.state.instances;
const placedOnAlpha = (): InstanceRecord[] =>
  plane.records().filter(({ placement }) => placement?.nodeId === 'alpha');

/** The disk refuses everything from when so many instances of alpha were given up. */
function fillDiskAfter(count: number): void {
  let given = 0;
  instances().onChange((_id, after, before) => {
    if (before?.value.desired.goal === 'run' && after?.value.desired.goal === 'remove') given++;
    if (given === count) store.isFull = true;
  });
}

describe('forgetting a node with many instances', () => {
  it('goes on where it was cut short, by the master that takes over', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 250 });
    await clock.advance(3000);
    const held = placedOnAlpha().map(({ id }) => id);
    expect(held).toHaveLength(250);
    const beta = await plane.addNode('beta');
    await alpha.wrapper.stop();
    plane.nodes.delete('alpha');
    await clock.advance(10);

    fillDiskAfter(100);
    await expect(forget(false)).rejects.toMatchObject({ code: 'DRV_STORE_WRITE_FAILED' });
    await plane.replaceMaster();
    store.isFull = false;
    const left = placedOnAlpha().map(({ id }) => id);
    expect(left).toHaveLength(150);
    expect(plane.master.state.nodes.get('alpha')?.value).toMatchObject({ cordoned: true });

    const comeTo: string[] = [];
    instances().onChange((id, after, before) => {
      const nodeId = after?.value.placement?.nodeId;
      if (nodeId !== undefined && nodeId !== before?.value.placement?.nodeId) comeTo.push(`${id} ${nodeId}`);
    });
    await clock.advance(120_000);
    expect(placedOnAlpha().map(({ status }) => status.reason)).toEqual(Array(150).fill('node-lost'));
    expect(beta.runtime.alive).toHaveLength(250);

    expect(await forget(false)).toEqual({ instances: left.toSorted(), statics: [] });
    await clock.advance(5000);
    expect(plane.master.state.nodes.get('alpha')).toBeUndefined();
    expect(plane.describe()).toEqual(Array(250).fill('lobby ONLINE - beta:-'));
    expect(comeTo.filter((line) => line.endsWith(' alpha'))).toEqual([]);
    expect(plane.master.usedOf('alpha')).toMatchObject({ ramMB: 0, cpu: 0 });
    await alpha.store.close();
  });

  it('gives the rest up as well when instances and the node change under it', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 150, nodes: ['alpha'] });
    await clock.advance(3000);
    const held = placedOnAlpha().map(({ id }) => id);
    gate.shut();
    store.latencyMs = 20;
    const forgotten = forget();
    for (const id of held)
      plane.master.writer.reportState(id, { state: 'ONLINE', players: 3 }).catch(() => {});
    const uncordoned = clock.advance(65).then(() => plane.master.nodeWriter.uncordon('alpha'));
    await clock.advance(2000);
    await uncordoned;
    // Those too that came in place of the first while the node was not cordoned.
    expect((await forgotten).instances).toEqual(expect.arrayContaining(held));
    expect((await forgotten).instances.length).toBeGreaterThan(held.length);
    expect(plane.master.state.nodes.get('alpha')).toBeUndefined();
    expect(placedOnAlpha()).toEqual([]);
  });
});

describe('forgetting a node while instances are being placed there', () => {
  it.each([0, 5, 15, 25, 35, 45, 55, 65, 75, 85, 95])(
    'leaves none on it, %i ms after one was asked for',
    async (afterMs) => {
      await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
      gate.shut();
      store.latencyMs = 20;
      const created = plane.master
        .led()
        .controllers.creations.create('lobby')
        .catch(() => undefined);
      await clock.advance(afterMs);
      const forgotten = forget();
      await clock.advance(2000);
      await Promise.all([created, forgotten]);
      expect(plane.master.state.nodes.get('alpha')).toBeUndefined();
      expect(placedOnAlpha()).toEqual([]);
    },
  );

  it('refuses a place that was chosen before the node was cordoned', async () => {
    await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0, nodes: ['nowhere'] });
    const creating = plane.master.led().controllers.creations.create('lobby');
    await clock.advance(300);
    const { id } = await creating;
    const placement = placementOf(plane, clock);
    const place = () =>
      placement.perform({
        do: 'place',
        id,
        placement: { nodeId: 'alpha', port: null, hostAddress: '127.0.0.1', templates: [] },
      });
    await plane.master.nodeWriter.cordon('alpha');
    await expect(place()).rejects.toThrow(Conflict);
    expect(placedOnAlpha()).toEqual([]);
    await plane.master.nodeWriter.uncordon('alpha');
    await place();
    expect(placedOnAlpha().map((record) => record.id)).toEqual([id]);
  });
});
