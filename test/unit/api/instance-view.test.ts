import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InstanceView } from '../../../src/api/routes/instance-view.js';
import { toInstanceInfo } from '../../../src/model/instance.js';
import { ApiWorld, instanceRecord, instanceStatus } from '../../support/api/api-world.js';

let world: ApiWorld;
let view: InstanceView;

beforeEach(async () => {
  world = await new ApiWorld().start();
  view = new InstanceView({ instances: world.instances, beats: world.beats });
});
afterEach(async () => {
  view.close();
  await world.stop();
});

const list = (): { id: string; lastHeartbeat: number }[] => JSON.parse(view.list().toString());
const get = (id: string): unknown => JSON.parse(view.get(id)?.toString() ?? 'null');

describe('one instance', () => {
  it('is encoded as InstanceInfo', async () => {
    const record = await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    expect(get('aaaaaa')).toEqual(toInstanceInfo(record, 2000));
    expect(view.record('aaaaaa')).toBe(world.instances.get('aaaaaa')?.value);
    expect(view.get('nobody')).toBeUndefined();
  });

  it('keeps its bytes while nothing changes and shows a change at once', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const before = view.get('aaaaaa');
    expect(view.get('aaaaaa')).toBe(before);
    await world.putInstance(instanceRecord({ id: 'aaaaaa', status: instanceStatus('OFFLINE') }));
    expect(get('aaaaaa')).toMatchObject({ state: 'OFFLINE', processPid: null });
  });

  it('shows the later of record and beat while ONLINE, and the record alone otherwise', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb', status: instanceStatus('STOPPED') }));
    world.beats.beat('n1', 1500);
    expect(get('aaaaaa')).toMatchObject({ lastHeartbeat: 2000 });
    world.beats.beat('n1', 3000);
    expect(get('aaaaaa')).toMatchObject({ lastHeartbeat: 3000 });
    expect(get('bbbbbb')).toMatchObject({ lastHeartbeat: 2000 });
    world.beats.beat('n2', 9000);
    expect(get('aaaaaa')).toMatchObject({ lastHeartbeat: 3000 });
  });

  it('puts the heartbeat where it belongs whatever the texts hold', async () => {
    const message = 'said "lastHeartbeat":0 and \\"lastHeartbeat\\":0, "ünï"';
    const status = { ...instanceStatus('ONLINE'), message };
    await world.putInstance(instanceRecord({ id: 'aaaaaa', status }));
    world.beats.beat('n1', 3000);
    expect(get('aaaaaa')).toMatchObject({ lastHeartbeat: 3000, message });
    world.beats.beat('n1', 12_345_678);
    expect(get('aaaaaa')).toMatchObject({ lastHeartbeat: 12_345_678, message, processPid: 4242 });
  });

  it('is hidden everywhere once it is to be removed', async () => {
    const record = await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    expect(list()).toHaveLength(1);
    await world.putInstance({ ...record, desired: { goal: 'remove', restartToken: 0 } });
    expect(view.get('aaaaaa')).toBeUndefined();
    expect(view.record('aaaaaa')).toBeUndefined();
    expect(list()).toEqual([]);
  });
});

describe('the list', () => {
  it('is an empty array without instances', () => {
    expect(view.list().toString()).toBe('[]');
  });

  it('is ordered by creation, then id, whatever the order of writing', async () => {
    await world.putInstance(instanceRecord({ id: 'cccccc', createdAt: 2 }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb', createdAt: 3 }));
    await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 2 }));
    expect(list().map(({ id }) => id)).toEqual(['aaaaaa', 'cccccc', 'bbbbbb']);
    await world.putInstance(instanceRecord({ id: 'dddddd', createdAt: 1 }));
    await world.dropInstance('cccccc');
    expect(list().map(({ id }) => id)).toEqual(['dddddd', 'aaaaaa', 'bbbbbb']);
  });

  it('is the same buffer until something in it changes', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const first = view.list();
    expect(view.list()).toBe(first);
    world.beats.beat('elsewhere', 9999);
    expect(view.list()).toBe(first);
    world.beats.beat('n1', 9999);
    expect(view.list()).not.toBe(first);
    expect(list()).toMatchObject([{ id: 'aaaaaa', lastHeartbeat: 9999 }]);
    expect(JSON.parse(first.toString())).toMatchObject([{ lastHeartbeat: 2000 }]);
  });

  it('encodes only what changed', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb' }));
    view.list();
    const kept = view.get('aaaaaa');
    await world.putInstance(instanceRecord({ id: 'bbbbbb', status: instanceStatus('OFFLINE') }));
    expect(list()).toMatchObject([{ state: 'ONLINE' }, { state: 'OFFLINE' }]);
    expect(view.get('aaaaaa')).toBe(kept);
  });

  it('shows an instance that was made again under the same id at its new place', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 1 }));
    await world.putInstance(instanceRecord({ id: 'bbbbbb', createdAt: 2 }));
    expect(list().map(({ id }) => id)).toEqual(['aaaaaa', 'bbbbbb']);
    await world.putInstance(instanceRecord({ id: 'aaaaaa', createdAt: 3 }));
    expect(list().map(({ id }) => id)).toEqual(['bbbbbb', 'aaaaaa']);
  });

  it('takes what the mirror held before the view was made', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const later = new InstanceView({ instances: world.instances, beats: world.beats });
    expect(later.list().equals(view.list())).toBe(true);
    later.close();
  });
});
