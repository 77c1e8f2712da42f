/** Due times at the changes of the clocks, as docs/schedules.md tells them. */
import { expect, it } from 'vitest';
import { configurationSchema } from '../../../src/model/configuration.js';
import { dueTimes } from '../../../src/model/cron.js';
import { minimumAt, nextChangeOf } from '../../../src/model/schedule.js';

const HOUR = 3_600_000;
const YEAR = Date.UTC(2026, 0, 1);
const duesOf = (cron: string, from: number): string =>
  dueTimes({ cron, zone: 'Europe/Berlin' }, from, from + 4 * HOUR, 20)
    .map((due) => new Date(due).toISOString().slice(11, 16))
    .join(' ');

it.each([
  ['30 2 * * *', '01:00'],
  ['10,50 2 * * *', '01:00'],
  ['30 1-3 * * *', '00:30 01:00 01:30'],
  ['*/20 2 * * *', ''],
  ['30 * * * *', '23:30 00:30 01:30 02:30'],
])('brings %s once at the end of the hour that summer time leaves out, or not at all', (cron, dues) => {
  expect(duesOf(cron, Date.UTC(2026, 2, 28, 23))).toBe(dues);
});

it.each([
  ['30 2 * * *', '00:30'],
  ['*/30 2 * * *', '00:00 00:30 01:00 01:30'],
  ['30 * * * *', '23:30 00:30 01:30 02:30'],
])('counts %s in the hour that comes twice: once where the hour is fixed, else each', (cron, dues) => {
  expect(duesOf(cron, Date.UTC(2026, 9, 24, 23))).toBe(dues);
});

it('judges and follows the most windows of the worst times within the patience of the loop', () => {
  const windows = Array.from({ length: 17 }, () => ({
    cron: '0 0 29 2 +1',
    zone: 'Europe/Berlin',
    minutes: 60,
    minimumServiceCount: 1,
  }));
  const parse = (some: typeof windows) =>
    configurationSchema.safeParse({ name: 'a', command: 'x', minimumServiceCount: 0, windows: some });
  expect(parse(windows).success).toBe(false);
  const few = windows.slice(1);
  const quickest = Array.from({ length: 5 }, () => {
    const begun = process.cpuUsage();
    expect(parse(few).success).toBe(true);
    minimumAt({ minimumServiceCount: 0, windows: few }, YEAR);
    nextChangeOf({ minimumServiceCount: 0, windows: few }, YEAR);
    const { user } = process.cpuUsage(begun);
    return user / 1000;
  });
  expect(Math.min(...quickest)).toBeLessThan(150);
});
