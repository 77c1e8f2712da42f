/** `schedule ...`: what is done at which times, and what became of it. */
import { scheduleText } from '../../model/plain/schedule-text.js';
import type { ShownSchedule } from '../../model/schedule.js';
import { instantText } from '../../model/words.js';
import { describe, tableOf, type View } from '../command.js';

const HEAD = ['CONFIGURATION', 'SCHEDULE', 'DO', 'CRON', 'ZONE', 'NEXT', 'HELD', 'LAST'];

const namesOf = (schedules: readonly ShownSchedule[]): readonly string[] => schedules.map(({ name }) => name);

function tableText(schedules: readonly ShownSchedule[], view: View): string {
  const rows = schedules.map(
    ({ configurationName, name, do: deed, cron, zone, next, paused, skip, last }) => {
      const held = paused !== undefined ? 'paused' : skip === next ? 'skipped' : '';
      const was = last && `${last.outcome} ${instantText(last.due)}`;
      return [configurationName, name, deed, cron, zone, instantText(next), held, was];
    },
  );
  return tableOf(view, HEAD, rows, 'there are no schedules');
}

/** Describes a command that asks something of a schedule. */
function asking(about: string) {
  return describe({
    usage: '<configuration> <schedule>',
    about,
    input: (name: string, schedule: string) => ({ name, schedule }),
    text: (schedules: readonly ShownSchedule[], { now }, { schedule }) =>
      schedules.flatMap((one) => (one.name === schedule ? scheduleText(one, now) : [])).join('\n'),
    names: namesOf,
  });
}

export const SCHEDULE_COMMANDS = {
  'schedule list': describe({
    usage: '[configuration]',
    about: 'the schedules, their next due times, and what became of the last ones',
    input: (configuration?: string) => ({ configuration }),
    text: tableText,
    names: namesOf,
  }),
  'schedule run': asking('act on a schedule now, whatever its times say'),
  'schedule skip': asking('skip the next due time of a schedule'),
  'schedule pause': asking('pause a schedule: its due times are skipped'),
  'schedule resume': asking('go on with a schedule that is paused, or take a skip back'),
};
