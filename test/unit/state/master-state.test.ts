/** The master's mirrors: a record that another writer broke is set aside, and the log says so. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey } from '../../../src/store/keys.js';
import { create } from '../../../src/store/store.js';
import { instanceRecord } from '../../support/control-plane/records.js';
import { MemoryStore } from '../../support/store/memory-store.js';

it('sets a record aside whose change cannot be read, logs its key, and has it among the unreadable', async () => {
  const store = new MemoryStore();
  const lines: string[] = [];
  const state = new MasterState(
    store,
    pino({ level: 'error' }, { write: (line: string) => lines.push(line) }),
  );
  await create(store, instanceKey('aaaaaa'), instanceRecord('aaaaaa'));
  await state.start();
  const broken = { ...instanceRecord('aaaaaa'), status: 'fine' };
  await store.transact([
    { do: 'put', key: instanceKey('aaaaaa'), value: broken },
    { do: 'put', key: instanceKey('bbbbbb'), value: broken },
    { do: 'put', key: instanceKey('cccccc'), value: instanceRecord('cccccc') },
  ]);
  await state.instances.until(await store.barrier());
  expect([...state.instances.entries()].map(([id, { value }]) => [id, value.status.state])).toEqual([
    ['cccccc', 'CREATING'],
  ]);
  expect([...state.instancesByConfiguration.get('lobby')]).toEqual(['cccccc']);
  expect(lines.map((line) => JSON.parse(line).key)).toEqual(['instances/aaaaaa', 'instances/bbbbbb']);
  expect(lines[0]).toContain('the record instances/aaaaaa cannot be read (status: must be');
  expect([...state.unreadable()].map(({ key }) => key)).toEqual(['instances/aaaaaa', 'instances/bbbbbb']);
  await state.stop();
  await store.close();
});
