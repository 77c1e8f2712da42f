/**
 * Schedules of a configuration, as an operator writes them, and the timetable: the stored record of what became of
 * each due time.
 */
import { z } from 'zod';
import { nextDue, ruleFields } from './cron.js';
import { DroverError } from './errors.js';
import { nameSchema } from './names.js';
import { MAX_SERVICE_COUNT } from './plain/command-limits.js';
import { stopCommandSchema } from './stopping.js';
import { cutText, instantText } from './words.js';

export const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;
/** Each due time is searched through the days of years: so many hold the loop for some milliseconds. */
const MAX_SCHEDULES = 16;

const scheduleSchema = z
  .object({
    name: nameSchema,
    ...ruleFields,
    do: z.enum(['restart', 'stop', 'start', 'command', 'run']),
    /** The line for the standard input of each instance, where `do` is `command`. */
    command: stopCommandSchema.optional().describe('the line to send'),
    /** `empty`: players are waited for. */
    when: z.enum(['any', 'empty']).default('any'),
    /** How late a due time may still be acted on. */
    withinMinutes: z.int().min(1).max(DAY_MINUTES).default(10),
    /** A line for the standard input of each instance, so many minutes before. */
    warn: z.object({ minutes: z.int().min(1).max(DAY_MINUTES), command: stopCommandSchema }).optional(),
  })
  .superRefine(({ do: deed, command }, context) => {
    const fault = (message: string): void => context.addIssue({ code: 'custom', path: ['command'], message });
    if (deed === 'command' && command === undefined)
      fault('must be the line to send, because do is "command"');
    if (deed !== 'command' && command !== undefined) fault('has no effect unless do is "command": remove it');
  });
export type Schedule = Readonly<z.output<typeof scheduleSchema>>;

export const schedulesSchema = z
  .array(scheduleSchema)
  .max(MAX_SCHEDULES)
  .superRefine((schedules, context) => {
    for (const [place, { name }] of schedules.entries())
      if (schedules.findIndex((one) => one.name === name) !== place) {
        const message = `must be a name of its own: an earlier schedule is named ${name}, too`;
        context.addIssue({ code: 'custom', path: [place, 'name'], message });
      }
  });

/** A time in which more instances are kept. */
const windowSchema = z.object({
  ...ruleFields,
  /** How long it lasts from each due time. */
  minutes: z
    .int()
    .min(1)
    .max(7 * DAY_MINUTES),
  minimumServiceCount: z.int().min(0).max(MAX_SERVICE_COUNT),
});
export const windowsSchema = z.array(windowSchema).max(MAX_SCHEDULES);

interface Counted {
  readonly minimumServiceCount: number;
  readonly windows?: z.output<typeof windowsSchema> | undefined;
}

/** The minimum that holds at `now`: a window that is open may raise it. */
export function minimumAt({ minimumServiceCount, windows = [] }: Counted, now: number): number {
  const open = windows.filter((one) => nextDue(one, now - one.minutes * MINUTE_MS) <= now);
  return Math.max(minimumServiceCount, ...open.map((window) => window.minimumServiceCount));
}

/** When to look at the windows again, within a minute because clocks are changed; undefined: there are none. */
export function nextChangeOf({ windows }: Counted, now: number): number | undefined {
  const times = windows?.flatMap((one) =>
    [0, one.minutes * MINUTE_MS].map((ms) => nextDue(one, now - ms) + ms),
  );
  return times && Math.min(now + MINUTE_MS, ...times);
}

/**
 * `done`, `failed`: it was acted on. `missed`: no master was there in time, players stayed, or a later due time came.
 * `skipped`: a person wanted that. `unsure`: a master ended while it acted, and the deed is not repeated.
 */
const outcomeSchema = z.enum(['done', 'failed', 'missed', 'skipped', 'unsure']);

const pastDueSchema = z.object({
  due: z.number().describe('the due time, Unix milliseconds'),
  at: z.number().describe('when it was settled, Unix milliseconds'),
  outcome: outcomeSchema,
  message: z.string().nullable().describe('what happened, for a person'),
  by: z.string().nullable().describe('who asked for it; null: its time had come'),
});
export type PastDue = Readonly<z.output<typeof pastDueSchema>>;

const entrySchema = z.object({
  /** The cron expression and the zone that `seen` belongs to. */
  rule: z.string(),
  /** Due times up to here are settled or handed over. */
  seen: z.number(),
  /** The due time that is being acted on, and how. `mark`: the generation of the rollout before a restart. */
  handedOver: z
    .object({ due: z.number(), at: z.number(), by: z.string().nullable(), mark: z.int(), do: z.string() })
    .optional(),
  last: pastDueSchema.nullable(),
  /** How many due times ended in each way. */
  counts: z.partialRecord(outcomeSchema, z.int()).describe('how many due times ended in each way'),
  /** The due time whose warning was given. */
  warned: z.number().optional(),
  /** The due time that a person does not want. */
  skip: z.number().optional(),
  paused: z.object({ by: z.string(), at: z.number() }).optional().describe('who paused it, and when'),
  /** A person wants it now. */
  asked: z.object({ by: z.string(), at: z.number() }).optional(),
});
export type Entry = Readonly<z.output<typeof entrySchema>>;

/** A schedule as clients see it. */
export const shownScheduleSchema = entrySchema
  .pick({ last: true, counts: true, paused: true, skip: true })
  .extend({
    configurationName: z.string(),
    name: z.string(),
    do: z.string().describe('what it does, as the file says'),
    cron: z.string(),
    zone: z.string(),
    next: z.number().describe('the next due time, Unix milliseconds'),
  });
export type ShownSchedule = z.output<typeof shownScheduleSchema>;

/** Holds the content of a configuration, its schedules and new rollouts. Instants are Unix milliseconds. */
export const freezeSchema = z.object({
  by: z.string().describe('who froze it'),
  at: z.number().describe('since when, Unix milliseconds'),
  until: z.number().nullable().describe('until when, Unix milliseconds; null: until somebody unfreezes it'),
  reason: z.string().nullable().describe('why, in the words of that person'),
});
export type Freeze = Readonly<z.output<typeof freezeSchema>>;

/** Store value of `schedules/<configuration>`. Instants are Unix milliseconds. */
export const timetableSchema = z.object({
  entries: z.record(z.string(), entrySchema),
  /** Absent: the configuration is not frozen. The schedule controller ends a freeze whose time is over. */
  frozen: freezeSchema.optional(),
});
export type Timetable = Readonly<z.output<typeof timetableSchema>>;

const MOST_REASON_CHARS = 200;

/** `frozen by ops until 2026-11-28 04:00:00: the tournament`. */
export function freezeText({ by, until, reason }: Freeze): string {
  const end = until === null ? '' : ` until ${instantText(until)}`;
  const why = reason === null ? '' : `: ${cutText(reason, MOST_REASON_CHARS)}`;
  return `frozen by ${by}${end}${why}`;
}

/** Throws DRV_CONFIGURATION_FROZEN while the configuration of the timetable is frozen. */
export function refuseFrozen(name: string, timetable: Timetable | undefined): void {
  if (timetable?.frozen === undefined) return;
  const why = `configuration "${name}" is ${freezeText(timetable.frozen)}`;
  throw new DroverError('DRV_CONFIGURATION_FROZEN', `${why}; "config unfreeze ${name}" ends that`);
}

/** The name of the times of a schedule: other times count anew. */
export function ruleOf({ cron, zone }: Schedule): string {
  return `${cron} ${zone}`;
}

export const EMPTY_TIMETABLE: Timetable = { entries: {} };

/** The entry of a schedule; undefined: the controller has not seen it yet. */
export function entryOf({ entries }: Timetable, schedule: string): Entry | undefined {
  return Object.hasOwn(entries, schedule) ? entries[schedule] : undefined;
}
