/** A deleted configuration with `"onDelete": "stop"`, over a real master and node: what ends, what waits and what stays. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

let world: CommandWorld;
beforeEach(async () => {
  world = await CommandWorld.create();
});
afterEach(() => world.stop());

const lobby = (fields: Partial<ConfigurationInput>): Promise<void> => world.configure('lobby', fields);

const untilWhy = (text: string) =>
  until(async () => expect(await world.run('config why lobby')).toContain(text));

it('ends empty instances, those of clients too, and the one with players when they have left', async () => {
  await lobby({ minimumServiceCount: 2, onDelete: 'stop' });
  const [busy] = (await world.untilOnline('lobby', 2)).map(({ id }) => id);
  if (busy === undefined) return expect.fail('there are no instances');
  await world.run('instance create lobby');
  await world.untilOnline('lobby', 3);
  await world.play(busy, 2);
  expect(await world.run('config delete lobby')).toContain('unless their onDelete is "stop"');
  await until(() => expect(world.wanted()).toEqual([busy]));
  await untilWhy('1 instance ends when no players are left, because onDelete is "stop".');
  await world.play(busy, 0);
  await until(() => expect(world.plane.records()).toEqual([]));
});

it('goes by what running instances were told without a restart', async () => {
  await lobby({ minimumServiceCount: 1 });
  const [before] = await world.untilOnline('lobby', 1);
  await lobby({ minimumServiceCount: 1, onDelete: 'stop' });
  await until(() => expect(world.plane.records()[0]?.revision).not.toBe(before?.revision));
  expect(world.wanted()).toEqual([before?.id]);
  world.removeFile('lobby.json');
  await world.files.reload();
  await until(() => expect(world.plane.records()).toEqual([]));
});

it('keeps what is left when the configuration comes back', async () => {
  await lobby({ minimumServiceCount: 2, onDelete: 'stop' });
  const ids = (await world.untilOnline('lobby', 2)).map(({ id }) => id).sort();
  for (const id of ids) await world.play(id, 1);
  await world.run('config delete lobby');
  await untilWhy('2 instances end when no players are left');
  await lobby({ minimumServiceCount: 3, onDelete: 'stop' });
  for (const id of ids) await world.play(id, 0);
  // What the controller did not do is known once it did something else.
  await until(() => expect(world.wanted()).toHaveLength(3));
  expect(world.wanted()).toEqual(expect.arrayContaining(ids));
});

it('ends nothing where nothing is said', async () => {
  await lobby({ minimumServiceCount: 2 });
  const ids = (await world.untilOnline('lobby', 2)).map(({ id }) => id).sort();
  await world.run('config delete lobby');
  await world.configure('mail', { minimumServiceCount: 1, onDelete: 'stop' });
  await world.untilOnline('mail', 1);
  await world.run('config delete mail');
  await until(() => expect(world.wanted()).toEqual(ids));
  await untilWhy('Delete what you do not want');
});

it('stops a static instance, which stays with its directory', async () => {
  await lobby({ minimumServiceCount: 1, static: true, onDelete: 'stop' });
  const [one] = await world.untilOnline('lobby', 1);
  await world.run('config delete lobby');
  await until(() => {
    const [record] = world.plane.records();
    expect(record).toMatchObject({ id: one?.id, desired: { goal: 'stop' }, status: { state: 'STOPPED' } });
    expect(record?.status.gone).toBe(false);
  });
});
