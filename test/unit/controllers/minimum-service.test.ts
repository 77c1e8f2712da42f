/** What minimum-service does to an instance that has changed since it was counted. */
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { MinimumService } from '../../../controllers/master/minimum-service/reconciler.js';
import { Conflict } from '../../../src/loop/reconciler.js';
import { InstanceWriter } from '../../../src/state/instance-writes.js';
import { MasterState } from '../../../src/state/master-state.js';
import { instanceKey } from '../../../src/store/keys.js';
import { instanceRecord } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';
import { MemoryStore } from '../../support/store/memory-store.js';

it.each([
  [true, 'run'],
  [false, 'remove'],
])('ends a surplus that was not static, by what it is now (static: %s)', async (isStatic, goal) => {
  const store = new MemoryStore();
  const logger = pino({ level: 'silent' });
  const clock = new FakeClock();
  const state = new MasterState(store, logger);
  await state.start();
  const record = instanceRecord('old1aa', { static: isStatic });
  const revision = await store.transact([{ do: 'create', key: instanceKey(record.id), value: record }]);
  await state.instances.until(revision);
  const writer = new InstanceWriter({ ...state, clock });
  const creations = { createMissing: async () => expect.fail('nothing is to be made') };
  const service = new MinimumService({ ...state, writer, creations, clock, logger });
  const ending = service.perform({ do: 'remove', name: record.configurationName, id: record.id });
  if (isStatic) await expect(ending).rejects.toThrow(Conflict);
  else await ending;
  expect(state.instances.get(record.id)?.value.desired.goal).toBe(goal);
  await state.stop();
  await store.close();
});
