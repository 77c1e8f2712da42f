/** Due times over the changes of the clocks of all time zones: each acts once, or is recorded. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plan, settled } from '../../controllers/master/schedule/plan.js';
import { configurationSchema } from '../../src/model/configuration.js';
import { dueTimes } from '../../src/model/cron.js';
import { EMPTY_TIMETABLE, type Timetable } from '../../src/model/schedule.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const YEAR = Date.UTC(2026, 0, 1);
const RUNS = Number(process.env.DROVER_PROPERTY_RUNS ?? 100);

/** The instants at which a zone changes its clocks in 2026, to the day. */
function changesOf(zone: string): number[] {
  const text = new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' });
  const offsetAt = (day: number): string => text.format(YEAR + day * DAY);
  const find = (from: number, to: number): number[] => {
    if (offsetAt(from) === offsetAt(to) && to - from <= 30) return [];
    if (to - from === 1) return [YEAR + from * DAY];
    const middle = Math.floor((from + to) / 2);
    return [...find(from, middle), ...find(middle, to)];
  };
  return find(0, 365);
}

const ZONES = Intl.supportedValuesOf('timeZone');
const CHANGES = ZONES.flatMap((zone) => changesOf(zone).map((at) => ({ zone, at })));

it('has a daily due time once on each day, over both changes of every zone', () => {
  expect(CHANGES.length).toBeGreaterThan(200);
  for (const { zone, at } of CHANGES) {
    const day = new Intl.DateTimeFormat('sv', { timeZone: zone, dateStyle: 'short' });
    for (const cron of ['30 2 * * *', '0 0 * * *']) {
      const dues = dueTimes({ cron, zone }, at - DAY, at + 2 * DAY, 10);
      const days = dues.map((due) => day.format(due));
      expect(new Set(days).size, `${cron} ${zone} ${days}`).toBe(dues.length);
      expect(dues.length, `${cron} ${zone} ${days}`).toBeGreaterThanOrEqual(2);
    }
  }
});

it('acts on each due time once, or records it: over dead masters and changed clocks', () => {
  const crons = fc.constantFrom('30 2 * * *', '*/20 * * * *', '15 1,2,3 * * *', '0 4 * * 7');
  /** How the wall clock goes on between two looks; a negative step is a clock that is set back. */
  const steps = fc.array(fc.integer({ min: -3 * HOUR, max: 9 * HOUR }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...CHANGES), crons, steps, ({ zone, at }, cron, ways) => {
      const { schedules = [] } = configurationSchema.parse({
        name: 'a',
        command: 'x',
        schedules: [{ name: 's', cron, zone, do: 'start', withinMinutes: 30 }],
      });
      const start = at - DAY;
      let now = start;
      let latest = start;
      let timetable: Timetable = EMPTY_TIMETABLE;
      const acted: number[] = [];
      for (const way of [0, ...ways]) {
        now = Math.max(latest - DAY, now + way);
        latest = Math.max(latest, now);
        for (let rounds = 0; ; rounds++) {
          const [step] = plan({ now, schedules, timetable, used: 0, generation: 0 }).steps;
          if (step === undefined) break;
          expect(rounds).toBeLessThan(20);
          if (step.do !== 'write' || step.entry === undefined) throw new Error(step.do);
          const { due } = step.entry.handedOver ?? { due: 0 };
          const last = { due, at: now, outcome: 'done', message: null, by: null } as const;
          if (due > 0) acted.push(due);
          timetable = { entries: { s: due > 0 ? settled(step.entry, last) : step.entry } };
        }
      }
      const dues = dueTimes({ cron, zone }, start, latest, 10_000);
      const counts = Object.values(timetable.entries.s?.counts ?? {}).reduce((sum, count) => sum + count, 0);
      expect(counts).toBe(dues.length);
      expect(new Set(acted).size).toBe(acted.length);
      expect(acted.every((due) => dues.includes(due))).toBe(true);
    }),
    { numRuns: RUNS },
  );
});
