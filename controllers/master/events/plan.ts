/** Pure functions from a change of a record to events, and the folding of equal events. They decide nothing. */

import { isDeepStrictEqual } from 'node:util';
import type { ConfigurationHistory } from '../../../src/model/configuration-history.js';
import {
  type EventKind,
  type EventRecord,
  MAX_EVENT_INSTANCES,
  type NewEvent,
} from '../../../src/model/event.js';
import { hasFailed, type InstanceRecord, type InstanceStatus, saidOf } from '../../../src/model/instance.js';
import { CANNOT_START } from '../../../src/model/instance-word.js';
import type { NodeCondition, NodeRecord } from '../../../src/model/node.js';
import { rolloutText } from '../../../src/model/plain/rollout-text.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import { EMPTY_TIMETABLE, entryOf, freezeText, type Timetable } from '../../../src/model/schedule.js';
import { endText } from '../../../src/model/words.js';

/** How long an event takes up equal ones after its last time. Ends of a crash loop are minutes apart, and so are due times. */
const FOLD_MS = 60_000;
const FOLD_ENDS_MS = 900_000;
/** How long an event goes on at most: a crash loop of a day is told every hour. */
const MOST_FOLDED_MS = 3_600_000;
const FOLDED_LONG: ReadonlySet<EventKind> = new Set(['crashed', 'schedule']);

/** The kinds that are told by their last detail: the exits of a crash loop differ. Others are folded when it is equal. */
const TOLD_BY_LAST: ReadonlySet<EventKind> = new Set(['crashed', 'waiting', 'failed', 'changed']);

/** Events with equal keys are folded. */
export function foldKeyOf({ kind, configuration, node, detail, by }: EventRecord): string {
  // The ends of a configuration are one story, wherever its instances are.
  const place = kind === 'crashed' ? null : node;
  return JSON.stringify([kind, configuration, place, by, TOLD_BY_LAST.has(kind) ? null : detail]);
}

export function recordOf(event: NewEvent, at: number): EventRecord {
  const { kind, count = 1, configuration = null, node = null, instance, detail = null, by = null } = event;
  const instances = instance === undefined ? [] : [instance];
  return { kind, at, until: at, count, configuration, node, instances, detail, by };
}

/** The two events as one; undefined: too long a time lies between them. */
export function fold(known: EventRecord, next: EventRecord): EventRecord | undefined {
  if (next.until - known.until > (FOLDED_LONG.has(next.kind) ? FOLD_ENDS_MS : FOLD_MS)) return undefined;
  if (next.until - known.at >= MOST_FOLDED_MS) return undefined;
  const [id] = next.instances;
  const hasRoom = id !== undefined && known.instances.length < MAX_EVENT_INSTANCES;
  const isNew = hasRoom && !known.instances.includes(id);
  const instances = isNew ? [...known.instances, id] : known.instances;
  return { ...next, at: known.at, count: known.count + next.count, instances };
}

/** The events of a changed instance. `formerNode`: the node of the instance that a new one replaces. */
export function eventsOfInstance(
  before: InstanceRecord | undefined,
  after: InstanceRecord | undefined,
  formerNode: (id: string) => string | undefined,
): NewEvent[] {
  const record = after ?? before;
  if (record === undefined) return [];
  const of = { configuration: record.configurationName, instance: record.id, node: record.placement?.nodeId };
  if (after === undefined) return [{ ...of, kind: 'removed' }];
  if (before === undefined) return [beginningOf(after, of, formerNode)];
  const was = before.status;
  const is = after.status;
  const ends = endsBetween(was, is);
  const events: NewEvent[] =
    ends === 0 ? [] : [{ ...of, kind: 'crashed', count: ends, detail: exitText(is) }];
  if (is.state === 'ONLINE' && was.state !== 'ONLINE') events.push({ ...of, kind: 'up' });
  else if (is.state === 'STOPPED' && was.state !== 'STOPPED' && after.desired.goal !== 'remove')
    events.push({ ...of, ...endOf(after) });
  else if (is.reason !== was.reason) {
    const detail = is.message?.split('; next try in')[0];
    if (is.reason === 'no-node-fits') events.push({ ...of, kind: 'waiting', detail });
    else if (is.reason === 'node-lost') events.push({ ...of, kind: 'lost' });
    else if (CANNOT_START.has(is.reason)) events.push({ ...of, kind: 'failed', detail });
  }
  return events;
}

function endOf(after: InstanceRecord): Pick<NewEvent, 'kind' | 'detail'> {
  const { reason, message } = saidOf(after);
  if (reason === 'exited')
    return { kind: hasFailed(after) ? 'crashed' : 'finished', detail: exitText(after.status) };
  return { kind: reason === 'timed-out' ? 'crashed' : 'stopped', detail: message ?? undefined };
}

function beginningOf(
  after: InstanceRecord,
  of: Omit<NewEvent, 'kind'>,
  formerNode: (id: string) => string | undefined,
): NewEvent {
  if (after.replaces === undefined) return { ...of, kind: 'made' };
  const from = formerNode(after.replaces);
  return from === undefined || from === of.node
    ? { ...of, kind: 'replaced' }
    : { ...of, kind: 'moved', node: from };
}

/** How many ends that nobody asked for lie between two statuses. Reports in between may have been replaced. */
function endsBetween(was: InstanceStatus, is: InstanceStatus): number {
  const isEnd = is.state === 'OFFLINE' && is.reason === 'exited' && was.reason !== 'exited';
  const starts = Math.max(0, is.restarts - was.restarts);
  // The end before the first of these starts is told already, unless the instance was up until then.
  const missed = was.state === 'ONLINE' ? starts : Math.max(0, starts - 1);
  return missed + (isEnd ? 1 : 0);
}

function exitText({ exitCode: code, exitSignal: signal }: InstanceStatus): string {
  return endText({ code, signal });
}

export function eventsOfRollout(
  before: RolloutRecord | undefined,
  after: RolloutRecord | undefined,
): NewEvent[] {
  if (after === undefined) return [];
  const isSame =
    before?.state === after.state && before.to === after.to && before.generation === after.generation;
  // The first record of a configuration whose instances have its content is no rollout.
  if (isSame || (before === undefined && after.state === 'complete')) return [];
  const detail = after.state === 'rolling' ? beginText(before) : rolloutText(after);
  const by = after.state === 'paused' ? null : after.by;
  return [{ kind: 'rollout', configuration: after.name, detail, by }];
}

/** The events of settled due times, and of a freeze. */
export function eventsOfTimetable(
  configuration: string,
  before: Timetable | undefined,
  after: Timetable = EMPTY_TIMETABLE,
): NewEvent[] {
  const { frozen } = after;
  if (frozen?.at !== before?.frozen?.at)
    return [{ kind: 'schedule', configuration, detail: frozen ? freezeText(frozen) : 'frozen no more' }];
  return Object.entries(after.entries).flatMap(([name, { last }]): NewEvent[] => {
    if (last === null || isDeepStrictEqual(last, before && entryOf(before, name)?.last)) return [];
    const detail = `schedule ${name} ${last.outcome}${last.message === null ? '' : `: ${last.message}`}`;
    return [{ kind: 'schedule', configuration, detail, by: last.by }];
  });
}

function beginText(before: RolloutRecord | undefined): string {
  return before?.state === 'paused' || before?.state === 'awaiting-promotion' ? 'goes on' : 'begins';
}

const CONDITION_TEXT: Readonly<Record<NodeCondition, string>> = {
  connected: 'is connected',
  returning: 'was stopped, and said that it will be back',
  lost: 'is lost',
};

export function eventsOfNode(
  id: string,
  before: NodeRecord | undefined,
  after: NodeRecord | undefined,
): NewEvent[] {
  const said = (detail: string): NewEvent[] => [{ kind: 'node', node: id, detail }];
  if (after === undefined) return said('was forgotten');
  if (before === undefined) return said('joined');
  return [
    ...(after.condition === before.condition ? [] : said(CONDITION_TEXT[after.condition])),
    ...drainTexts(before, after).flatMap(said),
  ];
}

function drainTexts(before: NodeRecord, after: NodeRecord): string[] {
  if (before.drain === undefined && after.drain !== undefined) return ['is drained: its instances move away'];
  if (before.drain !== undefined && after.drain === undefined)
    return [after.cordoned ? 'is drained no more, and gets no new instances' : 'is drained no more'];
  if (before.drain?.doneAt === null && after.drain?.doneAt != null) return ['is empty: its drain is done'];
  if (before.cordoned === after.cordoned) return [];
  return [after.cordoned ? 'is cordoned: it gets no new instances' : 'gets new instances again'];
}

/** The event of a new content. The first content of a configuration counts too. */
export function eventsOfHistory(
  name: string,
  before: ConfigurationHistory | undefined,
  after: ConfigurationHistory | undefined,
): NewEvent[] {
  const last = after?.contents.at(-1);
  if (last === undefined || last.number === before?.contents.at(-1)?.number) return [];
  const commit = last.commit === null ? undefined : `commit ${last.commit.slice(0, 8)}`;
  const by = last.key;
  if (last.number === 1) return [{ kind: 'added', configuration: name, detail: commit, by }];
  return [
    {
      kind: 'changed',
      configuration: name,
      detail: `content ${last.number}${commit === undefined ? '' : ` of ${commit}`}`,
      by,
    },
  ];
}
