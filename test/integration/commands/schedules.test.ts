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

it('names the schedules there are', async () => {
  expect(await world.run('schedule run lobby daily')).toContain('lobby has no such schedule; it has yearly');
  expect(await world.run('schedule run arena daily')).toContain('there is no configuration "arena"');
});
