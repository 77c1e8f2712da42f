/** A master that leads again: what it counts of the instances goes on from one term to the next. */
import { expect, it } from 'vitest';
import { instanceKey } from '../../../src/store/keys.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { instanceRecord, placedOn } from '../../support/control-plane/records.js';
import { FakeClock } from '../../support/fake-clock.js';

const AWAY = 'node9';

it('a term begins without a walk over all instances, and counts what they hold', async () => {
  const plane = new ControlPlane({ clock: new FakeClock() });
  const put = async (id: string, ramMB: number): Promise<void> => {
    const value = instanceRecord(id, { ramMB, placement: placedOn(AWAY) });
    const revision = await plane.store.transact([{ do: 'put', key: instanceKey(id), value }]);
    await plane.master.state.instances.until(revision);
  };
  await plane.start();
  try {
    const { master } = plane;
    const { instances } = master.state;
    await put('one1aa', 300);
    await master.endTerm();
    await put('two2bb', 200);
    const entries = instances.entries.bind(instances);
    let walks = 0;
    instances.entries = () => {
      walks++;
      return entries();
    };
    master.beginTerm({ epoch: 0 });
    expect(walks).toBe(0);
    expect(master.usedOf(AWAY)).toMatchObject({ ramMB: 500, instances: 2 });
  } finally {
    await plane.stop();
  }
});
