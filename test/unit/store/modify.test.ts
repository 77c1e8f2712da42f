/** Changes of one record take turns: many writers at once cost as many transactions as there are writers. */
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey } from '../../../src/store/keys.js';
import { modify } from '../../../src/store/modify.js';
import type { Operation } from '../../../src/store/store.js';
import { instanceRecord } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

const CALLERS = 500;

class CountingStore extends MemoryStore {
  transactions = 0;

  override transact(operations: readonly Operation[]): Promise<number> {
    this.transactions++;
    return super.transact(operations);
  }
}

let store: CountingStore;
let state: MasterState;
let writer: InstanceWriter;

beforeEach(async () => {
  store = new CountingStore();
  state = new MasterState(store, pino({ level: 'silent' }));
  writer = new InstanceWriter({ ...state, store, clock: new FakeClock() });
  await state.start();
  await put('aaaaaa');
  store.transactions = 0;
});

afterEach(async () => {
  await state.stop();
  await store.close();
});

async function put(id: string): Promise<void> {
  const value = instanceRecord(id);
  await state.instances.until(await store.transact([{ do: 'put', key: instanceKey(id), value }]));
}

const numbers = Array.from({ length: CALLERS }, (_, index) => index);

describe('writers of one record', () => {
  it('make one transaction each, however many there are at once, and each reads its own write', async () => {
    const answers = await Promise.all(
      numbers.map((players) => writer.reportState('aaaaaa', { state: 'ONLINE', players })),
    );
    expect(answers.map(({ status }) => status.players)).toEqual(numbers);
    expect(store.transactions).toBe(CALLERS);
  });

  it('take turns with writers of other parts, and every change counts', async () => {
    const restarts = numbers.map((index) =>
      index % 2 === 0
        ? writer.setLifecycle('aaaaaa', 'restart')
        : modify(state.instanceRecords, 'aaaaaa', (record) => ({
            ...record,
            desired: { goal: 'run' as const, restartToken: record.desired.restartToken + 1 },
          })),
    );
    await Promise.all(restarts);
    expect(state.instances.get('aaaaaa')?.value.desired.restartToken).toBe(CALLERS);
    expect(store.transactions).toBe(CALLERS);
  });

  it('go on after one whose change failed', async () => {
    const failing = modify(state.instanceRecords, 'aaaaaa', () => {
      throw new Error('no');
    });
    const next = writer.reportState('aaaaaa', { state: 'ONLINE', players: 3 });
    await expect(failing).rejects.toThrow('no');
    expect((await next).status.players).toBe(3);
  });

  it('decide again when a transaction of several records came between', async () => {
    await put('bbbbbb');
    const beside = put('aaaaaa');
    const report = writer.reportState('aaaaaa', { state: 'ONLINE', players: 5 });
    await Promise.all([beside, report]);
    expect(state.instances.get('aaaaaa')?.value.status.players).toBe(5);
  });
});

it('a writer of another record does not wait', async () => {
  await put('bbbbbb');
  const order: string[] = [];
  const many = numbers.map(() => writer.reportState('aaaaaa', { state: 'ONLINE' }));
  const all = Promise.all(many).then(() => order.push('many'));
  await writer.reportState('bbbbbb', { state: 'ONLINE' });
  order.push('one');
  await all;
  expect(order).toEqual(['one', 'many']);
});
