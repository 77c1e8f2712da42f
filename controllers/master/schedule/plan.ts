/**
 * The schedule controller's decision: what becomes of each due time of a configuration's schedules. Each one is acted on
 * once, or its record says why not.
 *
 * ```
 *  due ---> handed over ---> done | failed        a master that ends in between: its successor goes on, unless it comes
 *   '---> skipped | missed                        too late, the deed was edited, or it is a command: then `unsure`
 * ```
 */
import type { Plan } from '../../../src/loop/reconciler.js';
import { dueTimes, nextDue } from '../../../src/model/cron.js';
import { durationText } from '../../../src/model/plain/duration-text.js';
import { freezeText } from '../../../src/model/plain/schedule-text.js';
import {
  type Entry,
  entryOf,
  type Freeze,
  MINUTE_MS,
  type PastDue,
  ruleOf,
  type Schedule,
  type Timetable,
} from '../../../src/model/schedule.js';
import { countText } from '../../../src/model/words.js';

/** A clock that goes back further than this was wrong before: due times count from its new time. */
const WRONG_CLOCK_MS = 86_400_000;
/** The longest time between two looks, so that a changed clock is noticed. */
const LOOK_MS = 30_000;
/** How often players are counted while a due time waits for them. */
const PLAYERS_MS = 5000;
/** The most due times that a look counts. */
const MOST_DUES = 200;

export interface ScheduleFacts {
  /** Unix milliseconds. */
  readonly now: number;
  /** Undefined: the configuration is gone. */
  readonly schedules: readonly Schedule[] | undefined;
  readonly timetable: Timetable;
  /** How many instances may have players, or are runs that go on. */
  readonly used: number;
  /** The generation of the rollout. */
  readonly generation: number;
}

export type ScheduleStep =
  /** Writes an entry in the place of `before`; `entry` undefined: none stays. */
  | {
      readonly do: 'write';
      readonly name: string;
      readonly before?: Entry | undefined;
      readonly entry?: Entry;
    }
  /** Acts on what the entry hands over, and notes the outcome. */
  | { readonly do: 'act'; readonly schedule: Schedule; readonly entry: Entry }
  | { readonly do: 'warn'; readonly line: string }
  /** Ends a freeze whose time is over. */
  | { readonly do: 'thaw'; readonly freeze: Freeze }
  | { readonly do: 'forget' };

export function plan(facts: ScheduleFacts): Plan<ScheduleStep> {
  const { schedules, timetable } = facts;
  if (schedules === undefined) return { steps: [{ do: 'forget' }] };
  const dropped = Object.entries(timetable.entries)
    .filter(([name]) => !schedules.some((one) => one.name === name))
    .map(([name, before]): ScheduleStep => ({ do: 'write', name, before }));
  const plans = schedules.map((schedule) => planOf(schedule, facts));
  const times = plans.map(({ recheckInMs }) => recheckInMs ?? LOOK_MS);
  const steps = [...dropped, ...plans.flatMap((one) => one.steps)];
  const { frozen: freeze } = timetable;
  if (freeze?.until != null) {
    // The due times within the freeze are settled first.
    if (steps.length === 0 && freeze.until <= facts.now) return { steps: [{ do: 'thaw', freeze }] };
    times.push(Math.min(Math.max(0, freeze.until - facts.now), LOOK_MS));
  }
  return times.length === 0 ? { steps } : { steps, recheckInMs: Math.min(...times) };
}

function planOf(schedule: Schedule, facts: ScheduleFacts): Plan<ScheduleStep> {
  const { now, timetable, generation: mark } = facts;
  const { name } = schedule;
  const before = entryOf(timetable, name);
  const write = (entry: Entry, ...steps: ScheduleStep[]): Plan<ScheduleStep> => ({
    steps: [{ do: 'write', name, before, entry }, ...steps],
  });
  if (before?.rule !== ruleOf(schedule) || before.seen > now + WRONG_CLOCK_MS) {
    const { skip: _skip, warned: _warned, ...known } = before ?? { last: null, counts: {} };
    return write({ ...known, rule: ruleOf(schedule), seen: now });
  }
  const { asked, ...rest } = before;
  const { withinMinutes } = schedule;
  const settle = (outcome: PastDue['outcome'], message: string, due: number, count = 1): Plan<ScheduleStep> =>
    write(settled({ ...rest, seen: due }, { due, at: now, outcome, message, by: null }, count));
  const handOver = (due: number, by: string | null, seen: number): Plan<ScheduleStep> => {
    const entry = { ...rest, seen, handedOver: { due, at: now, by, mark, do: schedule.do } };
    return write(entry, { do: 'act', schedule, entry });
  };
  if (before.handedOver !== undefined) {
    const { due, at, by, do: deed } = before.handedOver;
    const isMeant = deed === schedule.do && deed !== 'command' && now <= at + withinMinutes * MINUTE_MS;
    if (isMeant) return { steps: [{ do: 'act', schedule, entry: before }] };
    const message = 'a master ended while it acted';
    return write(settled(before, { due, at: now, outcome: 'unsure', message, by }));
  }
  if (asked !== undefined) return handOver(asked.at, asked.by, before.seen);
  const dues = dueTimes(schedule, before.seen, now, MOST_DUES);
  const due = dues.at(-1);
  const { frozen } = timetable;
  const holdOf = (at: number): string | undefined =>
    frozen !== undefined && at <= (frozen.until ?? at)
      ? freezeText(frozen)
      : before.paused && `paused by ${before.paused.by}`;
  if (due === undefined) {
    const next = nextDue(schedule, before.seen);
    const isWarned =
      schedule.warn === undefined ||
      holdOf(next) !== undefined ||
      [before.skip, before.warned].includes(next);
    const at = isWarned ? next : next - schedule.warn.minutes * MINUTE_MS;
    if (at <= now)
      return write({ ...rest, warned: next }, { do: 'warn', line: schedule.warn?.command ?? '' });
    return { steps: [], recheckInMs: Math.min(at - now, LOOK_MS) };
  }
  const earlier = dues.at(-2);
  if (earlier !== undefined) {
    // Look no further back than a due time may be made up: a clock that was years behind has passed millions.
    const isMore = dues.length === MOST_DUES;
    const until = isMore ? Math.max(earlier, now - withinMinutes * MINUTE_MS) : earlier;
    const passed = `${isMore ? 'more than ' : ''}${countText(dues.length - 1, 'due time')}`;
    const isHeld = holdOf(until) !== undefined;
    const message = holdOf(until) ?? `${passed} passed until ${durationText(now - until)} ago`;
    return settle(!isHeld ? 'missed' : 'skipped', message, until, dues.length - 1);
  }
  const held = holdOf(due);
  if (held !== undefined) return settle('skipped', held, due);
  if (before.skip === due) return settle('skipped', 'a person wanted that', due);
  // A rolling restart waits for the players of each instance by itself.
  const isPatient = schedule.do === 'run' || (schedule.when === 'empty' && schedule.do !== 'restart');
  const isWaiting = isPatient && facts.used > 0;
  if (now > due + withinMinutes * MINUTE_MS) {
    const why = isWaiting
      ? `${countText(facts.used, 'instance')} ${schedule.do === 'run' ? 'ran' : 'had players'}`
      : 'no master acted';
    return settle('missed', `${why} within ${countText(withinMinutes, 'minute')}`, due);
  }
  if (isWaiting) return { steps: [], recheckInMs: PLAYERS_MS };
  return handOver(due, null, due);
}

/** The entry with the outcome of its last due time. `count`: how many due times ended so. */
export function settled({ handedOver: _over, ...entry }: Entry, last: PastDue, count = 1): Entry {
  const { outcome } = last;
  return { ...entry, last, counts: { ...entry.counts, [outcome]: (entry.counts[outcome] ?? 0) + count } };
}
