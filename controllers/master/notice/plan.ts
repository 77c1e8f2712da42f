/**
 * The notice controller's decision: which event a webhook tells next, and when. A webhook tells events by id, in order:
 * the next event once the event before is taken or given up.
 */
import { backoffMs } from '../../../src/loop/backoff.js';
import type { Plan } from '../../../src/loop/reconciler.js';
import type { EventRecord } from '../../../src/model/event.js';
import { isWanted, type NoticeRecord, type Webhook } from '../../../src/model/webhook.js';

/** How often the files are read. */
const LOOK_EVERY_MS = 5000;
const RETRY = { baseMs: 1000, maxMs: 3_600_000 };
/** How often an event is tried: for a day. Then it is given up, and each later one after a single try, until one is taken. */
const MOST_TRIES = 35;

export interface NoticeFacts {
  /** Undefined: this look only reads the files. */
  readonly hook: Webhook | undefined;
  readonly record: NoticeRecord | undefined;
  /** The events in the order of their ids. */
  readonly events: readonly (readonly [id: string, event: EventRecord])[];
  /** Unix milliseconds. */
  readonly at: number;
}

export interface NoticeStep {
  /** The event to tell first; absent: only the record is written. */
  readonly tell?: readonly [id: string, event: EventRecord];
  /** The record; with `tell`: as it is before the try. */
  readonly record: NoticeRecord;
}

export function plan({ hook, record, events, at }: NoticeFacts): Plan<NoticeStep> {
  if (hook === undefined) return { steps: [], recheckInMs: LOOK_EVERY_MS };
  // A new webhook tells nothing of what was before it, nor does a file that names more events than before.
  const last = events.at(-1)?.[0] ?? '';
  if (record === undefined) return { steps: [{ record: settled(last, 0) }] };
  const [tell] = pendingOf(hook, record, events);
  if (tell === undefined) {
    const isBehind = record.tries === 0 && last > record.cursor;
    return { steps: isBehind ? [{ record: settled(last, record.lost) }] : [] };
  }
  const gatherMs = hook.minSeconds * 1000;
  const waitMs = Math.max(
    leftMs(tell[1].at + gatherMs - at, gatherMs),
    record.tries === 0 ? 0 : leftMs(record.tryAt - at, backoffMs(record.tries - 1, RETRY)),
  );
  if (waitMs > 0) return { steps: [], recheckInMs: waitMs };
  return { steps: [{ tell, record: { ...record, lost: record.lost + pushedOut(record, events) } }] };
}

/** The time left of a wait; 0 where the clock was set back, as that of the next leader may be. */
function leftMs(ms: number, mostMs: number): number {
  return ms > mostMs ? 0 : ms;
}

/** The events that a webhook has still to tell. */
export function pendingOf(hook: Webhook, { cursor }: NoticeRecord, events: NoticeFacts['events']) {
  return events.filter(([id, event]) => id > cursor && isWanted(hook, event));
}

/** How many events went from the list while one was tried: the cursor then stands right before the next one. */
function pushedOut({ cursor, tries }: NoticeRecord, events: NoticeFacts['events']): number {
  const first = events.find(([id]) => id > cursor)?.[0];
  return tries === 0 || first === undefined ? 0 : Number(first) - Number(cursor) - 1;
}

/** The record of a webhook whose events up to this id are dealt with. */
export function settled(cursor: string, lost: number): NoticeRecord {
  return { cursor, tries: 0, tryAt: 0, failingSince: null, problem: null, lost };
}

/** The record after a try of this event that failed. */
export function failed(record: NoticeRecord, id: string, problem: string, at: number): NoticeRecord {
  const tries = record.tries + 1;
  const isGivenUp = tries >= MOST_TRIES;
  const cursor = isGivenUp ? id : String(Number(id) - 1).padStart(id.length, '0');
  const tryAt = at + backoffMs(record.tries, RETRY);
  const { failingSince, lost } = record;
  return {
    cursor,
    tries,
    tryAt,
    failingSince: failingSince ?? at,
    problem,
    lost: lost + (isGivenUp ? 1 : 0),
  };
}
