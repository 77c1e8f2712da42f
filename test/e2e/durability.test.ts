/** `kill -9` of the daemon in a stream of writes: whatever was acknowledged is there afterwards. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { DaemonWorld, failedOf } from '../support/daemon/daemon.js';
import { drawn } from '../support/drawn.js';
import { until } from '../support/until.js';

const ROUNDS = 3;
const WRITERS = 4;

let world: DaemonWorld;
beforeEach(async () => {
  world = await DaemonWorld.create();
});
afterEach(({ task }) => world.finish(failedOf(task)));

/** Makes and removes instances and configurations until there is no answer any more. */
async function write(label: string): Promise<void> {
  const { api } = world;
  const fields = {
    runtime: 'process',
    ramMB: 16,
    cpu: 1,
    minimumServiceCount: 0,
    command: 'exec sleep 1000',
  };
  try {
    for (let turn = 0; ; turn++) {
      const name = `${label}-${turn}`;
      await api.putConfiguration(name, fields);
      const { id } = await api.create('service');
      await api.putConfiguration(name, { ...fields, properties: { turn: `${turn}` } });
      if (turn % 3 !== 0) await api.remove(id);
      if (turn % 2 === 0) await api.removeConfiguration(name);
    }
  } catch (error) {
    // No answer: it was killed. An answer that was not expected is another matter.
    if (!(error instanceof Error && 'code' in error && /^(ECONN|EPIPE)/.test(String(error.code))))
      throw error;
  }
}

it('keeps every acknowledged write through kill -9 at random moments', async () => {
  world.configure('service', { command: 'exec sleep 1000', minimumServiceCount: 0 });
  const moments = drawn('durability');
  for (let round = 0; round < ROUNDS; round++) {
    await world.start();
    const written = world.api.writes.size;
    const writers = Array.from({ length: WRITERS }, (_, index) => write(`r${round}-w${index}`));
    await until(() => expect(world.api.writes.size).toBeGreaterThan(written));
    const moment = moments.between(0, 500);
    // The moment of the fault, not a wait for something.
    await new Promise((resolve) => setTimeout(resolve, moment));
    await world.kill();
    await Promise.all(writers);
    expect(world.api.writes.size).toBeGreaterThan(written);
  }
  await world.start();
  await world.api.writes.check(world.api);
});
