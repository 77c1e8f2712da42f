/** A new instance is created with its place, or with the reason why it has none: one write, not two. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Conflict } from '../../../src/loop/reconciler.js';
import type { InstanceRecord } from '../../../src/model/instance.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FlakyStore } from '../../support/control-plane/flaky-store.js';
import { placementOf } from '../../support/control-plane/placement.js';
import { FakeClock } from '../../support/fake-clock.js';

const SERVICE = { name: 'lobby', runtime: 'process', command: 'run', ramMB: 100, cpu: 10 };

let clock: FakeClock;
let plane: ControlPlane;
let store: FlakyStore;
/** Each instance as it was when it appeared. */
let born: InstanceRecord[];

beforeEach(async () => {
  clock = new FakeClock();
  store = new FlakyStore(clock);
  plane = new ControlPlane({ clock, masterStore: store });
  await plane.start();
  await plane.addNode('alpha', { capacity: { maxRamMB: 250, maxCpu: 1000 } });
  born = [];
  plane.master.state.instances.onChange((_id, after, before) => {
    if (before === undefined && after !== undefined) born.push(after.value);
  });
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

it('is written with its place', async () => {
  await plane.putConfiguration({
    ...SERVICE,
    availablePorts: { min: 4000, max: 4001 },
    minimumServiceCount: 2,
  });
  await clock.advance(500);
  expect(born.map(({ placement }) => [placement?.nodeId, placement?.port])).toEqual([
    ['alpha', 4000],
    ['alpha', 4001],
  ]);
  expect(born.map(({ home }) => home)).toEqual([
    { nodeId: 'alpha', port: 4000 },
    { nodeId: 'alpha', port: 4001 },
  ]);
});

it('is written with the reason why nothing fits', async () => {
  await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 3 });
  await clock.advance(500);
  expect(born.map(({ status: { reason, message } }) => [reason, message]).at(-1)).toEqual([
    'no-node-fits',
    '0/1 nodes fit: 1 short of RAM (need 100 MB, free 50 MB)',
  ]);
});

it('holds no place when it could not be written', async () => {
  await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 0 });
  await clock.advance(500);
  store.isFull = true;
  await expect(plane.master.led().controllers.creations.create('lobby')).rejects.toThrow(/disk/);
  expect(plane.master.usedOf('alpha').ramMB).toBe(0);
  store.isFull = false;
  for (const _ of [1, 2]) await plane.master.led().controllers.creations.create('lobby');
  expect(born.map(({ placement }) => placement?.nodeId)).toEqual(['alpha', 'alpha']);
  expect(plane.master.usedOf('alpha').ramMB).toBe(200);
});

it('is not the one that was chosen for a content that the instance has no more when it is written', async () => {
  await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1, nodes: ['nowhere'] });
  await clock.advance(500);
  const [id = ''] = plane.records().map((record) => record.id);
  store.latencyMs = 50;
  // Waiting for a node, it takes the new content by itself: that is being written now.
  const changing = plane.putConfiguration({ ...SERVICE, ramMB: 200, nodes: ['nowhere'] });
  await clock.advance(60);
  await changing;
  const place = { nodeId: 'alpha', port: null, hostAddress: '127.0.0.1', templates: [] };
  const placing = expect(
    placementOf(plane, clock).perform({ do: 'place', id, placement: place }),
  ).rejects.toThrow(Conflict);
  await clock.advance(500);
  await placing;
  expect(plane.records().map(({ ramMB, placement }) => [ramMB, placement])).toEqual([[200, null]]);
});

it('is asked for by the content that an instance takes while it is being stopped', async () => {
  await plane.putConfiguration({ ...SERVICE, minimumServiceCount: 1 });
  await clock.advance(500);
  const [id = ''] = plane.records().map((record) => record.id);
  const { writer } = plane.master;
  const { updates } = plane.master.led().controllers;
  await plane.putConfiguration({ ...SERVICE, ramMB: 300, minimumServiceCount: 0 });
  await writer.setLifecycle(id, 'stop');
  await expect(updates.update(id)).rejects.toMatchObject({ code: 'DRV_UPDATE_REFUSED' });
  await plane.putConfiguration({ ...SERVICE, ramMB: 200, minimumServiceCount: 0 });
  expect(await updates.update(id)).toBe('taken');
  expect(plane.records()[0]?.desired).toEqual({ goal: 'stop', restartToken: 0 });
  await writer.setLifecycle(id, 'start');
  await clock.advance(20_000);
  expect(plane.describe()).toEqual(['lobby ONLINE - alpha:-']);
  expect(plane.master.usedOf('alpha').ramMB).toBe(200);
});
