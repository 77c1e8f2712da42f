/** The due times of cron expressions, in any time zone. Pure: the caller brings the time. */
import { Cron } from 'croner';
import { z } from 'zod';
import { messageOf } from './errors.js';

/** Times of a fixed hour that summer time leaves out come as one when it begins. A fixed hour that comes twice counts once. */
const OPTIONS = { mode: '5-part', fixedTimeRule: 'no-wildcard', paused: true } as const;
const FIVE_FIELDS =
  'must be five fields such as "0 4 * * *": minute, hour, day of the month, month, day of the week';

/** A cron expression, and the name of a time zone in the IANA database. */
export const ruleFields = {
  cron: z
    .string()
    .max(100)
    .refine((cron) => faultOf(cron, 'UTC') === undefined, {
      error: ({ input }) => `${FIVE_FIELDS} (${faultOf(String(input), 'UTC')})`,
    }),
  zone: z
    .string()
    .max(64)
    .refine((zone) => faultOf('0 4 * * *', zone) === undefined, {
      error: 'must be a time zone such as "Europe/Berlin" or "UTC"',
    })
    .default('UTC'),
};

interface Rule {
  readonly cron: string;
  readonly zone: string;
}

/** The due times after `afterMs` and up to `untilMs`, the first `most` of them. Unix milliseconds. */
export function dueTimes({ cron, zone }: Rule, afterMs: number, untilMs: number, most: number): number[] {
  const rule = new Cron(cron, { ...OPTIONS, timezone: zone });
  const times: number[] = [];
  while (times.length < most) {
    const next = rule.nextRun(new Date(times.at(-1) ?? afterMs))?.getTime();
    if (next === undefined || next > untilMs) break;
    times.push(next);
  }
  return times;
}

/** The first due time after `afterMs`; infinite: none comes. */
export function nextDue(rule: Rule, afterMs: number): number {
  return dueTimes(rule, afterMs, Number.POSITIVE_INFINITY, 1)[0] ?? Number.POSITIVE_INFINITY;
}

function faultOf(cron: string, zone: string): string | undefined {
  try {
    return Number.isFinite(nextDue({ cron, zone }, 0)) ? undefined : 'no such day comes';
  } catch (error) {
    return messageOf(error);
  }
}
