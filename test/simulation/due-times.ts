/** Judges that each due time of a schedule is acted on once, or recorded as missed or skipped: by the records alone. */
import { dueTimes } from '../../src/model/cron.js';
import { type Entry, entryOf, timetableSchema } from '../../src/model/schedule.js';
import { PREFIX } from '../../src/store/keys.js';
import type { Disk } from './machine/disk.js';

/** The plan counts no more at a time. */
const MOST_COUNTED = 199;

export function judgeDueTimes(state: Pick<Disk, 'onCommit'>, report: (violation: string) => void): void {
  state.onCommit((changes) => {
    for (const { key, before, after } of changes) {
      if (!key.startsWith(PREFIX.timetables) || after === undefined) continue;
      const was = before === undefined ? undefined : timetableSchema.parse(before);
      for (const [name, entry] of Object.entries(timetableSchema.parse(after).entries)) {
        const known = was && entryOf(was, name);
        const fault = known?.rule === entry.rule ? faultOf(known, entry) : undefined;
        if (fault !== undefined) report(`${key} ${name}: ${fault}`);
      }
    }
  });
}

function faultOf(before: Entry, after: Entry): string | undefined {
  const told = settledOf(after) - settledOf(before);
  // A clock that was a day ahead: due times count anew.
  if (after.seen < before.seen) return told === 0 ? undefined : 'went back and settled a due time';
  const [cron, zone = ''] = [after.rule.slice(0, after.rule.lastIndexOf(' ')), after.rule.split(' ').at(-1)];
  const due = dueTimes({ cron, zone }, before.seen, after.seen, MOST_COUNTED + 1).length;
  if (told === due || (told === MOST_COUNTED && due > told)) return undefined;
  return `${due} due times passed, and ${told} were acted on or recorded`;
}

/** How many due times are settled, or handed over. */
function settledOf({ counts, handedOver }: Entry): number {
  return Object.values(counts).reduce((sum, count) => sum + count, handedOver === undefined ? 0 : 1);
}
