/** A lowered minimum with `"surplus": "remove"`, over a real master and node: who goes, and who is waited for. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

let world: CommandWorld;
beforeEach(async () => {
  world = await CommandWorld.create();
});
afterEach(() => world.stop());

const lobby = (minimumServiceCount: number, fields: Partial<ConfigurationInput> = {}): Promise<void> =>
  world.configure('lobby', { surplus: 'remove', minimumServiceCount, ...fields });

it('ends empty instances and keeps those with players, without another one in their place', async () => {
  await lobby(4);
  const [first, second] = (await world.untilOnline('lobby', 4)).map(({ id }) => id);
  if (first === undefined || second === undefined) return expect.fail('there are no instances');
  for (const id of [first, second]) await world.play(id, 2);
  await lobby(2);
  await until(() => expect(world.wanted()).toEqual([first, second].sort()));

  await lobby(1);
  await until(async () =>
    expect(await world.run('config why lobby')).toContain('1 instance goes when no players are left'),
  );
  expect(world.wanted()).toEqual([first, second].sort());
  await world.play(first, 0);
  await until(() => expect(world.wanted()).toEqual([second]));
});

it('ends no instance that a client made, and none where nothing is said', async () => {
  await lobby(2);
  await world.untilOnline('lobby', 2);
  await world.run('instance create lobby');
  const all = await world.untilOnline('lobby', 3);
  const clients = all.filter(({ madeBy }) => madeBy === 'client').map(({ id }) => id);
  expect(clients).toHaveLength(1);
  await lobby(1, { surplus: 'keep' });
  // What the controller did not do is known once it did something else.
  await lobby(0);
  await until(() => expect(world.wanted()).toEqual(clients));
});

it('ends also those with players where update says so', async () => {
  await lobby(2);
  const ids = (await world.untilOnline('lobby', 2)).map(({ id }) => id);
  for (const id of ids) await world.play(id, 1);
  await lobby(1, { update: { players: 'ignore' } });
  await until(() => expect(world.wanted()).toHaveLength(1));
});
