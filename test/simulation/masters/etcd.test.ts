/** The simulated etcd does what etcd does, where masters count on it. */
import { beforeEach, describe, expect, it } from 'vitest';
import { CompactedError, EtcdError } from '../../../src/store/etcd/etcd-error.js';
import { Random } from '../random.js';
import { Scheduler } from '../scheduler.js';
import { SimulatedEtcd } from './etcd.js';

const RANGE = { key: 'a', end: 'z' };

let scheduler: Scheduler;
let etcd: SimulatedEtcd;
beforeEach(() => {
  scheduler = new Scheduler();
  etcd = new SimulatedEtcd(scheduler, new Random('etcd'));
});

function put(key: string, value: string, lease?: number): number {
  const change = {
    do: 'put' as const,
    key,
    value: Buffer.from(value),
    ...(lease !== undefined && { lease }),
  };
  return etcd.transact({ comparisons: [], changes: [change], otherwiseRead: [] }).revision;
}

const valuesAt = (revision?: number): string[] =>
  etcd
    .range({ ...RANGE, ...(revision !== undefined && { revision }) })
    .entries.map(({ key, value }) => `${key} ${value.toString()}`);

describe('the simulated etcd', () => {
  it('changes nothing when a comparison fails, and says what is there', () => {
    const created = put('b', '1');
    put('b', '2');
    const answer = etcd.transact({
      comparisons: [{ key: 'b', field: 'modRevision', is: created }],
      changes: [{ do: 'delete', key: 'b' }],
      otherwiseRead: ['b', 'c'],
    });
    expect(answer).toMatchObject({ isDone: false, read: [{ key: 'b', createRevision: created }] });
    expect(valuesAt()).toEqual(['b 2']);
  });

  it('ends a lease by its own clock, with its keys, and gives it its whole time again after an outage', async () => {
    etcd.grant(7, 3);
    put('b', '1', 7);
    await scheduler.advance(2000);
    expect(etcd.renew(7)).toBe(3);
    etcd.goDown();
    await scheduler.advance(60_000);
    etcd.goUp();
    await scheduler.advance(2900);
    expect(valuesAt()).toEqual(['b 1']);
    await scheduler.advance(700);
    expect(valuesAt()).toEqual([]);
    expect(etcd.renew(7)).toBe(0);
    expect(() => put('b', '2', 7)).toThrow(EtcdError);
  });

  it('shows what was at a revision, and each later event once, until that is compacted', () => {
    const first = put('b', '1');
    put('c', '1');
    const third = put('b', '2');
    etcd.transact({ comparisons: [], changes: [{ do: 'delete', key: 'c' }], otherwiseRead: [] });
    expect(valuesAt(first)).toEqual(['b 1']);
    expect(valuesAt(third)).toEqual(['b 2', 'c 1']);
    expect(etcd.since(third, RANGE).map(({ events }) => events.map(({ key }) => key))).toEqual([
      ['b'],
      ['c'],
    ]);
    etcd.compact(third);
    expect(() => valuesAt(first)).toThrow(EtcdError);
    expect(() => etcd.since(first, RANGE)).toThrow(CompactedError);
    expect(valuesAt(third)).toEqual(['b 2', 'c 1']);
    expect(valuesAt()).toEqual(['b 2']);
  });

  it('takes no puts and no leases when it is full, and answers nothing while it is away', () => {
    put('b', '1');
    etcd.isFull = true;
    expect(() => put('b', '2')).toThrow(expect.objectContaining({ isOutOfSpace: true }));
    expect(() => etcd.grant(1, 3)).toThrow(expect.objectContaining({ isOutOfSpace: true }));
    etcd.isFull = false;
    etcd.goDown();
    expect(() => put('b', '2')).toThrow(expect.objectContaining({ isRefusal: false }));
    etcd.goUp();
    expect(valuesAt()).toEqual(['b 1']);
  });
});
