/** Schedules as clients see and ask them: `schedule ...`, their routes, and `why`. */
import { z } from 'zod';
import type { Clock } from '../loop/clock.js';
import { nextDue } from '../model/cron.js';
import { DroverError } from '../model/errors.js';
import {
  EMPTY_TIMETABLE,
  type Entry,
  entryOf,
  type Freeze,
  freezeSchema,
  refuseFrozen,
  ruleOf,
  type Schedule,
  type ShownSchedule,
} from '../model/schedule.js';
import { unknownConfiguration } from '../model/unknown.js';
import { modifyOrCreate, refuseSetAside } from '../store/modify.js';
import type { StateRecords } from './master-state.js';

type Needs = Pick<StateRecords, 'timetableRecords'> & {
  readonly configurations: Pick<StateRecords['configurations'], 'get'>;
  readonly clock: Pick<Clock, 'now'>;
};

/** The schedules of a configuration, in the order of its file. */
export function schedulesOf(
  { configurations, timetableRecords, clock }: Needs,
  name: string,
): ShownSchedule[] {
  const timetable = timetableRecords.mirror.get(name)?.value ?? EMPTY_TIMETABLE;
  const { schedules = [] } = configurations.get(name)?.value.configuration ?? {};
  return schedules.map((schedule) => {
    const { name: scheduleName, do: deed, cron, zone } = schedule;
    const { last, counts, paused, skip, seen } = entryOf(timetable, scheduleName) ?? newEntry(schedule, 0);
    const next = nextDue(schedule, Math.max(seen, clock.now()));
    const shown = { do: deed, cron, zone, next, last, counts, paused, skip };
    return { configurationName: name, name: scheduleName, ...shown };
  });
}

/** The wishes of people for a schedule. */
export const SCHEDULE_ACTIONS = ['run', 'skip', 'pause', 'resume'] as const;
export type ScheduleAction = (typeof SCHEDULE_ACTIONS)[number];
type Asked = NonNullable<Entry['asked']>;

const CHANGES: Readonly<Record<ScheduleAction, (entry: Entry, asked: Asked, schedule: Schedule) => Entry>> = {
  run: (entry, asked) => ({ ...entry, asked }),
  skip: (entry, _asked, schedule) => ({ ...entry, skip: nextDue(schedule, entry.seen) }),
  pause: (entry, asked) => ({ ...entry, paused: entry.paused ?? asked }),
  resume: ({ paused: _paused, skip: _skip, ...entry }) => entry,
};

/** A configuration, and how it is frozen. */
export const frozenConfigurationSchema = z.object({
  name: z.string(),
  frozen: freezeSchema.nullable().describe('null: it is not frozen'),
});
export type FrozenConfiguration = z.output<typeof frozenConfigurationSchema>;

/**
 * Freezes a configuration anew; `wanted` null: unfreezes it. Repeatable. Throws DRV_CONFIGURATION_UNKNOWN and
 * DRV_RECORD_UNREADABLE.
 */
export async function freezeConfiguration(
  { configurations, timetableRecords, clock }: Needs,
  name: string,
  wanted: Omit<Freeze, 'at'> | null,
): Promise<FrozenConfiguration> {
  const at = clock.now();
  if (configurations.get(name) === undefined) throw unknownConfiguration(name);
  refuseSetAside(timetableRecords, name);
  await modifyOrCreate(timetableRecords, name, (timetable = EMPTY_TIMETABLE) => {
    const { frozen, ...rest } = timetable;
    if (wanted === null) return frozen && rest;
    return { ...rest, frozen: { ...wanted, at } };
  });
  return { name, frozen: timetableRecords.mirror.get(name)?.value.frozen ?? null };
}

/**
 * Asks something of a schedule; the controller does it. Throws DRV_CONFIGURATION_UNKNOWN, DRV_CONFIGURATION_FROZEN,
 * DRV_SCHEDULE_UNKNOWN and DRV_RECORD_UNREADABLE.
 */
export async function askSchedule(
  needs: Needs,
  { name, schedule, action, by }: Record<'name' | 'schedule' | 'by', string> & { action: ScheduleAction },
): Promise<ShownSchedule[]> {
  const { configurations, timetableRecords, clock } = needs;
  const at = clock.now();
  refuseSetAside(timetableRecords, name);
  await modifyOrCreate(timetableRecords, name, (timetable = EMPTY_TIMETABLE) => {
    const record = configurations.get(name)?.value;
    if (record === undefined) throw unknownConfiguration(name);
    if (action === 'run') refuseFrozen(name, timetable);
    const { schedules = [] } = record.configuration;
    const found = schedules.find((one) => one.name === schedule);
    if (found === undefined) {
      const known = schedules.map((one) => one.name).join(', ') || 'none: its file has no "schedules"';
      throw new DroverError('DRV_SCHEDULE_UNKNOWN', `${name} has no such schedule; it has ${known}`);
    }
    const entry = CHANGES[action](entryOf(timetable, schedule) ?? newEntry(found, at), { by, at }, found);
    return { ...timetable, entries: { ...timetable.entries, [schedule]: entry } };
  });
  return schedulesOf(needs, name);
}

function newEntry(schedule: Schedule, seen: number): Entry {
  return { rule: ruleOf(schedule), seen, last: null, counts: {} };
}
