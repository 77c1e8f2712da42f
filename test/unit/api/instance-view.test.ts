import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InstanceView } from '../../../src/api/routes/instances/instance-view.js';
import type { EventRecord } from '../../../src/model/event.js';
import { toInstanceInfo } from '../../../src/model/instance.js';
import { PREFIX } from '../../../src/store/keys.js';
import { ApiWorld, instanceRecord, instanceStatus } from '../../support/api/api-world.js';
import { until } from '../../support/until.js';

let world: ApiWorld;
let view: InstanceView;

beforeEach(async () => {
  world = await new ApiWorld().start();
  view = new InstanceView(world);
});
afterEach(async () => {
  view.close();
  await world.stop();
});

const REMOVED: Omit<EventRecord, 'node' | 'instances'> = {
  ...{ kind: 'removed', at: 1, until: 1, count: 2, configuration: 'lobby', detail: null, by: null },
};

const listText = (of = view): string => Buffer.concat(of.list()).toString();
const list = (): { id: string; lastHeartbeat: number }[] => JSON.parse(listText());
/** The same bytes of memory. The place matters, because small buffers lie together in one pool. */
const isSamePiece = (a: Buffer, b: Buffer | undefined): boolean =>
  a.buffer === b?.buffer && a.byteOffset === b.byteOffset && a.length === b.length;
const isSame = (a: readonly Buffer[], b: readonly Buffer[]): boolean[] =>
  a.map((piece, index) => isSamePiece(piece, b[index]));
const get = (id: string): unknown => JSON.parse(view.get(id) ?? 'null');

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

  it('shows the heartbeat that was said, until a beat is heard after it was said', async () => {
    world.beats.beat('n1', 1999);
    for (const saidHeartbeat of [12, 9e15]) {
      const status = { ...instanceStatus('ONLINE'), saidHeartbeat };
      await world.putInstance(instanceRecord({ id: 'aaaaaa', status }));
      await world.putInstance(instanceRecord({ id: 'bbbbbb', status: { ...status, state: 'STOPPED' } }));
      expect([get('aaaaaa'), get('bbbbbb')]).toMatchObject([
        { lastHeartbeat: saidHeartbeat },
        { lastHeartbeat: saidHeartbeat },
      ]);
    }
    world.beats.beat('n1', 2001);
    expect([get('aaaaaa'), get('bbbbbb')]).toMatchObject([{ lastHeartbeat: 2001 }, { lastHeartbeat: 9e15 }]);
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
    // Its node keeps the log for a while.
    expect(view.withLog('aaaaaa')).toMatchObject({
      id: 'aaaaaa',
      configurationName: record.configurationName,
    });
    expect(() => view.withLog('bbbbbb')).toThrow('there is no instance');
  });
});

describe('the list', () => {
  it('is an empty array without instances', () => {
    expect(listText()).toBe('[]');
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

  it('is the same bytes until something in it changes, and bytes that were given out stay as they are', async () => {
    await world.putInstance(instanceRecord({ id: 'aaaaaa' }));
    const first = view.list();
    const text = listText();
    expect(isSame(view.list(), first)).toEqual([true, true, true]);
    world.beats.beat('elsewhere', 9999);
    expect(isSame(view.list(), first)).toEqual([true, true, true]);
    world.beats.beat('n1', 9999);
    // Asked for alone before the list.
    expect(get('aaaaaa')).toMatchObject({ lastHeartbeat: 9999 });
    expect(list()).toMatchObject([{ id: 'aaaaaa', lastHeartbeat: 9999 }]);
    expect(Buffer.concat(first).toString()).toBe(text);
  });

  it('encodes a change, a new instance and a removal without most of the others', async () => {
    const ids = Array.from({ length: 1000 }, (_, index) => (index + 36 ** 5).toString(36));
    for (const [index, id] of ids.entries())
      await world.putInstance(instanceRecord({ id, createdAt: index }));
    let before = view.list();
    const kept = (): number => {
      const now = view.list();
      const same = now.filter((piece) => before.some((other) => isSamePiece(piece, other))).length;
      before = now;
      return now.length - same;
    };
    expect(before.length).toBeGreaterThan(5);
    await world.putInstance(instanceRecord({ id: ids[500] ?? '', createdAt: 500, ramMB: 65 }));
    expect(kept()).toBe(1);
    await world.putInstance(instanceRecord({ id: 'zzzzzz', createdAt: 2000 }));
    expect(kept()).toBe(1);
    await world.dropInstance(ids[300] ?? '');
    expect(kept()).toBeLessThanOrEqual(2);
    expect(list().map(({ id }) => id)).toEqual([...ids.filter((id) => id !== ids[300]), 'zzzzzz']);
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
    const later = new InstanceView(world);
    expect(listText(later)).toBe(listText());
    later.close();
  });

  it('knows where the log of an instance lies that was removed before the view was made', async () => {
    const value = { ...REMOVED, node: 'ams-1', instances: ['aaaaaa', 'bbbbbb'] };
    await world.store.transact([{ do: 'put', key: `${PREFIX.events}000000000001`, value }]);
    await until(() =>
      expect(view.withLog('bbbbbb')).toEqual({ id: 'bbbbbb', home: { nodeId: 'ams-1', port: null } }),
    );
    expect(() => view.withLog('cccccc')).toThrow('there is no');
  });
});
