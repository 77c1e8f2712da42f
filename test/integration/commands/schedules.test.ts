/** `schedule ...` over a real master: what people see and ask of schedules. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CommandWorld } from '../../support/control-plane/command-world.js';
import { until } from '../../support/until.js';

let world: CommandWorld;

beforeEach(async () => {
  world = await CommandWorld.create();
  const schedules = [{ name: 'yearly', cron: '0 0 1 1 *', do: 'command', command: 'save' }] as const;
  await world.configure('lobby', { minimumServiceCount: 0, schedules: [...schedules] });
});

afterEach(() => world.stop());

it('lists, pauses, skips and runs a schedule, and says so in why', async () => {
  expect(await world.run('schedule list')).toMatch(/lobby +yearly +command +0 0 1 1 \* +UTC +\d{4}-01-01/);
  expect(await world.run('schedule pause lobby yearly')).toContain('but paused by tester');
  expect(await world.run('schedule resume lobby yearly')).not.toContain('paused');
  expect(await world.run('schedule skip lobby yearly')).toContain('which is skipped');
  expect(await world.run('config why lobby')).toMatch(
    /Schedule yearly: command at \d{4}-01-01 .*, which is skipped/,
  );
  await world.run('schedule run lobby yearly');
  await until(async () => expect(await world.run('schedule list')).toContain('done'));
  expect(await world.run('config why lobby')).toMatch(
    /last\s+done,\s+asked\s+for\s+by\s+tester:\s+sent\s+to\s+0\s+of\s+0\s+instances/,
  );
});

it('freezes a configuration: its file, its schedules and callers wait until it is unfrozen', async () => {
  const list = (): Promise<string> => world.run('config list');
  expect(await world.run('config freeze lobby --until 2h --reason "the cup"')).toMatch(
    /^configuration lobby is frozen by tester until 20\d\d-.*: the cup\n$/,
  );
  expect(await world.run('config why lobby')).toMatch(/It\s+is\s+frozen\s+by\s+tester/);
  await world.configure('lobby', { command: 'other', minimumServiceCount: 1 });
  expect(await world.run('config show lobby')).toContain('"command": "run"');
  expect(await list()).toMatch(/frozen by tester until .*file pending/);
  for (const line of ['schedule run lobby yearly', 'config scale lobby 2', 'config restart lobby'])
    expect(await world.run(line)).toContain('configuration "lobby" is frozen by tester until');
  world.removeFile('lobby.json');
  await world.files.reload();
  expect(await world.run('config show lobby')).toContain('"command": "run"');

  await world.configure('lobby', { command: 'other' });
  expect(await world.run('config unfreeze lobby')).toBe('configuration lobby is not frozen\n');
  await until(async () => expect(await world.run('config show lobby')).toContain('"command": "other"'));
  expect(await list()).not.toContain('frozen');
  expect(await world.run('config scale lobby 1')).toContain('minimumServiceCount 0 -> 1');
  expect(await world.run('config freeze lobby --until 2020-01-01')).toContain('until must be later than now');
  expect(await world.run('config freeze arena')).toContain('there is no configuration "arena"');
});

it('keeps the minimum of a frozen configuration', async () => {
  await world.configure('game', { minimumServiceCount: 1 });
  const [record] = await world.untilOnline('game', 1);
  expect(await world.run('config freeze game')).toBe('configuration game is frozen by tester\n');
  await world.run(`instance delete ${record?.id} --yes`);
  await until(async () => {
    const [next] = await world.untilOnline('game', 1);
    expect(next?.id).not.toBe(record?.id);
  });
});

it('names the schedules there are', async () => {
  expect(await world.run('schedule run lobby daily')).toContain('lobby has no such schedule; it has yearly');
  expect(await world.run('schedule run arena daily')).toContain('there is no configuration "arena"');
});
