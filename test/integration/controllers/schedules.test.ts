/** Schedules and windows over a real master with a wrapper, fake runtimes and a virtual clock. */
import pino from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { ConfigurationInput } from '../../../src/model/configuration.js';
import { type Entry, entryOf } from '../../../src/model/schedule.js';
import { askSchedule, freezeConfiguration } from '../../../src/state/schedules.js';
import { configurationKey, timetableKey } from '../../../src/store/keys.js';
import { ControlPlane, EVENTS_WRITTEN_MS, type TestNode } from '../../support/control-plane/control-plane.js';
import { FakeClock } from '../../support/fake-clock.js';

const MINUTE = 60_000;
let clock: FakeClock;
let plane: ControlPlane;
let alpha: TestNode;
let lines: string[];

beforeEach(async () => {
  clock = new FakeClock();
  lines = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => lines.push(JSON.parse(line).msg) });
  plane = new ControlPlane({ clock, logger });
  await plane.start();
  alpha = await plane.addNode('alpha');
  // To the first second of a minute.
  await clock.advance(MINUTE - (clock.now() % MINUTE) + 1000);
});

afterEach(async () => {
  const stopped = plane.stop();
  await clock.advance(20_000);
  await stopped;
});

async function put(fields: Partial<ConfigurationInput>): Promise<void> {
  await plane.putConfiguration({
    name: 'lobby',
    runtime: 'process',
    command: 'run',
    ramMB: 10,
    cpu: 1,
    ...fields,
  });
  await clock.advance(5000);
}

const entry = (name = 'tick'): Entry | undefined => {
  const timetable = plane.master.state.timetables.get('lobby')?.value;
  return timetable && entryOf(timetable, name);
};
const outcome = (): string => `${entry()?.last?.outcome} ${entry()?.last?.message}`;
const TICK = { name: 'tick', cron: '* * * * *' } as const;
const COMMAND = { ...TICK, do: 'command', command: 'save-all' } as const;

it('restarts the instances step by step, once for each due time', async () => {
  await put({ minimumServiceCount: 2, static: true, schedules: [{ ...TICK, do: 'restart' }] });
  await clock.advance(MINUTE);
  expect(outcome()).toBe('done null');
  await clock.advance(50_000);
  expect(alpha.runtime.alive.map((id) => alpha.runtime.specOf(id)?.run)).toEqual([2, 2]);
  expect(plane.master.state.rollouts.get('lobby')?.value).toMatchObject({
    by: 'schedule tick',
    players: 'ignore',
  });
  await clock.advance(MINUTE);
  expect(entry()?.counts).toEqual({ done: 2 });
});

it('hands a command over once: a successor says that it may have been sent', async () => {
  await put({ static: true, schedules: [COMMAND] });
  await clock.advance(MINUTE);
  expect(outcome()).toBe('done sent to 1 of 1 instance');
  const { handedOver: _over, ...rest } = entry() ?? { last: null };
  const due = clock.now();
  const value = {
    entries: { tick: { ...rest, handedOver: { due, at: due, by: null, mark: 0, do: 'command' } } },
  };
  await plane.takeOver(async () => {
    await plane.master.state.timetables.until(
      await plane.store.transact([{ do: 'put', key: timetableKey('lobby'), value }]),
    );
  });
  await clock.advance(1000);
  expect(outcome()).toBe('unsure a master ended while it acted');
});

it('keeps a timetable that it cannot read, and goes on with the others', async () => {
  await put({ static: true, schedules: [COMMAND] });
  const value = { entries: { tick: { rule: 7 } } };
  await plane.store.transact([{ do: 'put', key: timetableKey('lobby'), value }]);
  lines = [];
  await clock.advance(2 * MINUTE);
  expect(lines.filter((line) => line.includes('schedule'))).toEqual([
    expect.stringContaining('cannot be read'),
  ]);
  const { state } = plane.master;
  const asked = askSchedule(
    { ...state, clock },
    { name: 'lobby', schedule: 'tick', action: 'run', by: 'admin' },
  );
  await expect(asked).rejects.toMatchObject({ code: 'DRV_RECORD_UNREADABLE', status: 409 });
  expect((await plane.store.get(timetableKey('lobby')))?.value).toEqual(value);
});

it('keeps the timetable and the freeze of a configuration that it cannot read', async () => {
  await put({ static: true, schedules: [COMMAND] });
  const { state } = plane.master;
  await freezeConfiguration({ ...state, clock }, 'lobby', { by: 'admin', until: null, reason: null });
  await plane.store.transact([{ do: 'put', key: configurationKey('lobby'), value: { hash: 7 } }]);
  await clock.advance(2 * MINUTE);
  expect(state.timetables.get('lobby')?.value.frozen).toMatchObject({ by: 'admin' });
});

it('says what was missed while no master ran, in record, log and events', async () => {
  await put({ schedules: [{ ...COMMAND, cron: '*/20 * * * *', withinMinutes: 5 }] });
  await plane.takeOver(() => clock.advance(50 * MINUTE));
  await clock.advance(2 * EVENTS_WRITTEN_MS);
  expect(entry()?.counts).toMatchObject({ missed: 2 });
  expect(lines.filter((line) => line.includes('missed'))).toHaveLength(2);
  const events = [...plane.master.state.events.entries()].map(([, { value }]) => value);
  expect(events.filter(({ kind }) => kind === 'schedule').map(({ detail }) => detail)).toEqual([
    expect.stringMatching(/^schedule tick missed: 1 due time passed/),
    expect.stringMatching(/^schedule tick missed: no master acted within 5 minutes$/),
  ]);
});

it('stops and starts static instances at their times', async () => {
  const schedules = [
    { ...TICK, name: 'down', cron: '*/2 * * * *', do: 'stop' },
    { ...TICK, name: 'up', cron: '1-59/2 * * * *', do: 'start' },
  ] as const;
  await put({ static: true, schedules: [...schedules] });
  const isUp: boolean[] = [];
  for (let minute = 0; minute < 4; minute++) {
    await clock.advance(MINUTE);
    isUp.push(alpha.runtime.alive.length === 1);
  }
  expect(isUp.join()).toMatch(/^(?:true,false,true,false|false,true,false,true)$/);
  expect(plane.records()).toHaveLength(1);
});

it('raises the minimum while a window is open, and lowers it afterwards', async () => {
  const windows = [{ cron: '*/10 * * * *', minutes: 3, minimumServiceCount: 3 }];
  await put({ minimumServiceCount: 0, surplus: 'remove', windows });
  const counts = new Set<number>();
  for (let minute = 0; minute < 12; minute++) {
    await clock.advance(MINUTE);
    const isOpen = Math.floor(clock.now() / MINUTE) % 10 < 3;
    counts.add(alpha.runtime.alive.length * 10 + (isOpen ? 1 : 0));
  }
  expect([...counts].toSorted((a, b) => a - b)).toEqual([0, 31]);
});

it('forgets schedules with their configuration', async () => {
  await put({ schedules: [COMMAND] });
  expect(entry()).toBeDefined();
  await plane.removeConfiguration('lobby');
  await clock.advance(1000);
  expect(plane.master.state.timetables.size).toBe(0);
});
