/** The work of a master's terms. */
import { expect, it } from 'vitest';
import { MasterWork } from '../../../src/daemon/master-work.js';
import { ControlPlane } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

it('starts the files in a later term when they could not be started in the first', async () => {
  const { master } = new ControlPlane({ clock: new FakeClock() });
  await master.start();
  let tries = 0;
  const work = new MasterWork({
    master,
    startFiles: async () => {
      tries++;
      if (tries === 1) throw new Error('etcd is away');
    },
    ensureAdminKey: async () => undefined,
    openDoor: async () => undefined,
    untilAnswered: async () => undefined,
  });
  work.nodeIsUp();
  const term = { epoch: 1, signal: new AbortController().signal };
  try {
    await expect(work.begin(term)).rejects.toThrow('etcd is away');
    await work.end();
    expect(work.isReady).toBe(false);
    await work.begin({ ...term, epoch: 2 });
    expect(work.isReady).toBe(true);
    await work.startFiles();
    expect(tries).toBe(2);
  } finally {
    await work.end();
    await master.stop();
  }
});
