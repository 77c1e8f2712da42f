/** The plan of schedules as a table: a record and a time in, steps out as text. */
import { describe, expect, it } from 'vitest';
import { plan, type ScheduleFacts, type ScheduleStep } from '../../../controllers/master/schedule/plan.js';
import { configurationSchema } from '../../../src/model/configuration.js';
import { type Entry, entryOf, type Freeze } from '../../../src/model/schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** 2026-06-01 04:00 in UTC. */
const FOUR = Date.UTC(2026, 5, 1, 4);
const RULE = '0 4 * * * UTC';

interface Given extends Partial<Omit<ScheduleFacts, 'schedules' | 'timetable'>> {
  readonly schedule?: object;
  readonly entry?: Partial<Entry>;
  readonly frozen?: Partial<Freeze>;
}

function stepsAt(now: number, { schedule, entry, frozen, ...given }: Given = {}): string[] {
  const { schedules } = configurationSchema.parse({
    name: 'lobby',
    command: 'x',
    static: true,
    schedules: [{ name: 'nightly', cron: '0 4 * * *', do: 'restart', ...schedule }],
  });
  const known: Entry = { rule: RULE, seen: FOUR - 24 * HOUR, last: null, counts: {}, ...entry };
  const freeze = { by: 'ann', at: 1, until: null, reason: null, ...frozen };
  const timetable = { entries: { nightly: known }, ...(frozen && { frozen: freeze }) };
  const { steps, recheckInMs } = plan({ now, schedules, timetable, used: 0, generation: 3, ...given });
  return steps.length === 0 ? [`again in ${recheckInMs} ms`] : steps.slice(-1).map(textOf);
}

function textOf(step: ScheduleStep): string {
  if (step.do === 'act') return `act ${timeOf(step.entry.handedOver?.due)}`;
  if (step.do === 'warn') return `warn ${step.line}`;
  if (step.do !== 'write') return step.do;
  const { entry, before } = step;
  if (entry === undefined) return `drop ${step.name}`;
  const { last } = entry;
  return last === null || last === before?.last
    ? `seen ${timeOf(entry.seen)}`
    : `${last.outcome} ${timeOf(last.due)}: ${last.message} ${JSON.stringify(entry.counts)}`;
}

function timeOf(at = 0): string {
  return new Date(at).toISOString().slice(8, 16);
}

describe('the plan of a schedule', () => {
  it('acts at the due time, and not before', () => {
    expect(stepsAt(FOUR - 10_000)).toEqual(['again in 10000 ms']);
    expect(stepsAt(FOUR - HOUR)).toEqual(['again in 30000 ms']);
    expect(stepsAt(FOUR)).toEqual(['act 01T04:00']);
    expect(stepsAt(FOUR, { entry: { seen: FOUR } })).toEqual(['again in 30000 ms']);
  });

  it('counts from now when it is new, or has other times', () => {
    expect(stepsAt(FOUR, { entry: { rule: '0 5 * * * UTC' } })).toEqual(['seen 01T04:00']);
    const { schedules } = configurationSchema.parse({
      name: 'lobby',
      command: 'x',
      schedules: [{ name: 'constructor', cron: '0 4 * * *', do: 'start' }],
    });
    const facts = { now: FOUR, schedules, timetable: { entries: {} }, used: 0, generation: 0 };
    expect(plan(facts).steps.map(textOf)).toEqual(['seen 01T04:00']);
    expect(entryOf({ entries: {} }, 'constructor')).toBeUndefined();
  });

  it('makes a due time up within withinMinutes, and says later that it was missed', () => {
    expect(stepsAt(FOUR + 10 * MINUTE)).toEqual(['act 01T04:00']);
    expect(stepsAt(FOUR + 10 * MINUTE + 1)).toEqual([
      'missed 01T04:00: no master acted within 10 minutes {"missed":1}',
    ]);
    expect(stepsAt(FOUR + HOUR, { schedule: { withinMinutes: 60 } })).toEqual(['act 01T04:00']);
  });

  it('makes up one due time alone: the earlier ones are missed, each of them counted', () => {
    const entry = { seen: FOUR - 5 * 24 * HOUR };
    expect(stepsAt(FOUR, { entry })).toEqual([
      'missed 31T04:00: 4 due times passed until 1 d ago {"missed":4}',
    ]);
    const month = { seen: FOUR - 30 * 24 * HOUR, rule: '* * * * * UTC' };
    expect(stepsAt(FOUR, { schedule: { cron: '* * * * *' }, entry: month })).toEqual([
      expect.stringMatching(/^missed .*: more than 199 due times passed until 10 min ago/),
    ]);
  });

  it('waits for players, but lets the rollout of a restart do so', () => {
    const given = { schedule: { do: 'command', command: 'save', when: 'empty' }, used: 2 } as const;
    expect(stepsAt(FOUR, given)).toEqual(['again in 5000 ms']);
    expect(stepsAt(FOUR, { ...given, used: 0 })).toEqual(['act 01T04:00']);
    expect(stepsAt(FOUR + HOUR, given)).toEqual([
      'missed 01T04:00: 2 instances had players within 10 minutes {"missed":1}',
    ]);
    expect(stepsAt(FOUR, { schedule: { when: 'empty' }, used: 2 })).toEqual(['act 01T04:00']);
  });

  const over = { due: FOUR, at: FOUR, by: null, mark: 3, do: 'restart' };
  const UNSURE = ['unsure 01T04:00: a master ended while it acted {"unsure":1}'];

  it('goes on with what was handed over, but not later than it may be made up', () => {
    const entry = { seen: FOUR, handedOver: over };
    expect(stepsAt(FOUR + 10 * MINUTE, { entry })).toEqual(['act 01T04:00']);
    expect(stepsAt(FOUR + 10 * MINUTE + 1, { entry })).toEqual(UNSURE);
    expect(stepsAt(FOUR + 30 * 24 * HOUR, { entry })).toEqual(UNSURE);
  });

  it('neither repeats a command, nor does what an edited schedule says now for an earlier due time', () => {
    const command = { do: 'command', command: 'save' };
    const entry = { seen: FOUR, handedOver: { ...over, do: 'command' } };
    expect(stepsAt(FOUR, { schedule: command, entry })).toEqual(UNSURE);
    expect(stepsAt(FOUR, { schedule: { do: 'stop' }, entry: { seen: FOUR, handedOver: over } })).toEqual(
      UNSURE,
    );
    expect(stepsAt(FOUR, { entry })).toEqual(UNSURE);
  });

  it('says whose wish is unsure, and keeps a later wish', () => {
    const handedOver = { ...over, due: FOUR - HOUR, at: FOUR - HOUR, by: 'ann' };
    const asked = { by: 'bob', at: FOUR };
    const known: Entry = { rule: RULE, seen: FOUR - 24 * HOUR, last: null, counts: {}, handedOver, asked };
    const { schedules } = configurationSchema.parse({
      name: 'lobby',
      command: 'x',
      schedules: [{ name: 'nightly', cron: '0 4 * * *', do: 'command', command: 'save' }],
    });
    const facts = { schedules, timetable: { entries: { nightly: known } }, used: 0, generation: 3 };
    expect(plan({ ...facts, now: FOUR }).steps).toMatchObject([
      { entry: { asked, seen: known.seen, last: { outcome: 'unsure', due: FOUR - HOUR, by: 'ann' } } },
    ]);
  });

  it('skips what a person paused or does not want', () => {
    const person = { by: 'ann', at: 1 };
    expect(stepsAt(FOUR, { entry: { paused: person } })).toEqual([
      'skipped 01T04:00: paused by ann {"skipped":1}',
    ]);
    expect(stepsAt(FOUR, { entry: { skip: FOUR } })).toEqual([
      'skipped 01T04:00: a person wanted that {"skipped":1}',
    ]);
    expect(stepsAt(FOUR, { entry: { paused: person, asked: { by: 'bob', at: FOUR - 5 } } })).toEqual([
      'act 01T03:59',
    ]);
  });

  it('warns once, unless nothing will be done', () => {
    const schedule = { warn: { minutes: 5, command: 'say soon' } };
    const at = FOUR - 5 * MINUTE;
    expect(stepsAt(at - 1000, { schedule })).toEqual(['again in 1000 ms']);
    expect(stepsAt(at, { schedule })).toEqual(['warn say soon']);
    expect(stepsAt(at, { schedule, entry: { warned: FOUR } })).toEqual(['again in 30000 ms']);
    expect(stepsAt(at, { schedule, entry: { skip: FOUR } })).toEqual(['again in 30000 ms']);
    expect(stepsAt(at, { schedule, entry: { paused: { by: 'ann', at: 1 } } })).toEqual(['again in 30000 ms']);
  });

  it('does nothing twice when the clock goes back, and counts anew after a clock that was years ahead', () => {
    expect(stepsAt(FOUR - HOUR, { entry: { seen: FOUR } })).toEqual(['again in 30000 ms']);
    expect(stepsAt(FOUR - 365 * 24 * HOUR, { entry: { seen: FOUR } })).toEqual(['seen 01T04:00']);
  });

  it('skips the due times of a freeze, and ends the freeze afterwards', () => {
    expect(stepsAt(FOUR, { frozen: { reason: 'cup' } })).toEqual([
      'skipped 01T04:00: frozen by ann: cup {"skipped":1}',
    ]);
    const schedule = { withinMinutes: 60, warn: { minutes: 5, command: 'say soon' } };
    expect(stepsAt(FOUR - 5 * MINUTE, { schedule, frozen: {} })).toEqual(['again in 30000 ms']);
    // No master ran at 04:00; the freeze ended at 04:10.
    const until = FOUR + 10 * MINUTE;
    expect(stepsAt(until + MINUTE, { schedule, frozen: { until } })).toEqual([
      'skipped 01T04:00: frozen by ann until 2026-06-01 04:10:00Z {"skipped":1}',
    ]);
    expect(stepsAt(until, { entry: { seen: FOUR }, frozen: { until } })).toEqual(['thaw']);
    expect(stepsAt(until - 1000, { entry: { seen: FOUR }, frozen: { until } })).toEqual(['again in 1000 ms']);
    expect(stepsAt(FOUR, { schedule, frozen: { until: FOUR - 1 } })).toEqual(['act 01T04:00']);
  });

  it('forgets what the file no longer has', () => {
    const timetable = { entries: { old: { rule: RULE, seen: 1, last: null, counts: {} } } };
    const facts = { now: FOUR, timetable, used: 0, generation: 0 };
    expect(plan({ ...facts, schedules: [] }).steps.map(textOf)).toEqual(['drop old']);
    expect(plan({ ...facts, schedules: undefined }).steps.map(textOf)).toEqual(['forget']);
  });
});
