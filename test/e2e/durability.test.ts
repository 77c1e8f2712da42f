/** `kill -9` of the daemon in a stream of writes: whatever was acknowledged is there afterwards. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
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

it('leaves each configuration of a batch as it was or as it becomes, through kill -9 in the middle', async () => {
  const names = Array.from({ length: 60 }, (_, index) => `b${index}`);
  const fields = { runtime: 'process', ramMB: 16, cpu: 1, minimumServiceCount: 0, command: 'true' };
  const batch = (turn: number) => ({
    changes: names.map((name) => ({
      do: 'put',
      name,
      content: { ...fields, properties: { turn: `${turn}` } },
    })),
  });
  await world.start();
  expect(await world.api.send('POST', '/configurations/batch', batch(0))).toMatchObject({ status: 200 });
  const turnIn = (name: string): string =>
    JSON.parse(readFileSync(join(world.paths.configurations, `${name}.json`), 'utf8')).properties.turn;
  for (let turn = 1; turn <= ROUNDS; turn++) {
    const before = new Set(names.map(turnIn));
    const answer = world.api.send('POST', '/configurations/batch', batch(turn)).catch(() => undefined);
    // One of the files has been renamed into place: the batch is in the middle.
    while (turnIn('b0') !== `${turn}`) await new Promise(setImmediate);
    await world.kill();
    const said = await answer;
    const files = names.map(turnIn);
    await world.start();
    const found = new Map((await world.api.configurations()).map((one) => [one.name, one.properties.turn]));
    expect(names.map((name) => found.get(name))).toEqual(files);
    for (const each of files) expect([...before, `${turn}`]).toContain(each);
    if (said !== undefined) expect(new Set(files)).toEqual(new Set([`${turn}`]));
    expect(readdirSync(world.paths.configurations).filter((file) => !file.endsWith('.json'))).toEqual([]);
  }
  expect(await world.api.send('POST', '/configurations/batch', batch(9))).toMatchObject({ status: 200 });
  expect(new Set(names.map(turnIn))).toEqual(new Set(['9']));
});
