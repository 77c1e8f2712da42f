/** What happened in the cluster, for people: a bounded list that the master keeps. Equal events are folded into one. */
import { z } from 'zod';
import { countText } from './words.js';

/** How many events are kept. */
export const MAX_EVENTS = 1000;
/** How many ids of instances an event names. */
export const MAX_EVENT_INSTANCES = 10;

export const eventKindSchema = z.enum([
  'made',
  'up',
  'crashed',
  'failed',
  'waiting',
  'moved',
  'replaced',
  'stopped',
  'finished',
  'removed',
  'lost',
  'rollout',
  'schedule',
  'added',
  'changed',
  'deleted',
  'file',
  'node',
  'action',
]);
export type EventKind = z.output<typeof eventKindSchema>;

/** Store value of `events/<id>`. The id is a number of 12 digits, which counts up. */
export const eventRecordSchema = z.object({
  kind: eventKindSchema,
  at: z.number().describe('when it happened first, Unix milliseconds'),
  until: z.number().describe('when it happened last, Unix milliseconds'),
  count: z.int().min(1).describe('how often it happened'),
  configuration: z.string().nullable().describe('null: it is about no configuration'),
  node: z.string().nullable().describe('null: it is about no node, or about several'),
  instances: z.array(z.string()).describe(`the instances, at most ${MAX_EVENT_INSTANCES} of them`),
  detail: z.string().nullable().describe('the exit, the reason or the file of the last time'),
  by: z.string().nullable().describe('who did it, as in the audit trail; null: Drover'),
});
export type EventRecord = Readonly<z.output<typeof eventRecordSchema>>;

/** An event before it has a time and a place in the list. */
export interface NewEvent {
  readonly kind: EventKind;
  readonly count?: number;
  readonly configuration?: string | undefined;
  readonly node?: string | undefined;
  readonly instance?: string;
  readonly detail?: string | undefined;
  readonly by?: string | null;
}

export const shownEventSchema = eventRecordSchema.extend({
  id: z.string().describe('counts up; an event that happens again keeps its id'),
  text: z.string().describe('the event in one sentence'),
});
export type ShownEvent = z.output<typeof shownEventSchema>;

export function shownEvent(id: string, event: EventRecord): ShownEvent {
  return { id, ...event, text: textOfEvent(event) };
}

type Verb = readonly [one: string, several: string];
const VERBS: Partial<Record<EventKind, Verb>> = {
  made: ['was made', 'were made'],
  up: ['is up', 'are up'],
  failed: ['does not start', 'do not start'],
  waiting: ['waits for a place', 'wait for a place'],
  moved: ['moved', 'moved'],
  replaced: ['was replaced', 'were replaced'],
  stopped: ['stopped', 'stopped'],
  finished: ['finished', 'finished'],
  removed: ['was removed', 'were removed'],
  lost: ['was lost', 'were lost'],
};
const PREPOSITIONS: Partial<Record<EventKind, string>> = { moved: 'from', lost: 'with' };

/** The event in one sentence, such as `5 of survival moved from ams-2`. */
export function textOfEvent(event: EventRecord): string {
  const { kind, count, configuration, node, detail, by } = event;
  const actor = by === null ? '' : ` by ${by}`;
  const because = detail === null ? '' : `: ${detail}`;
  const verb = VERBS[kind];
  if (verb !== undefined) {
    const place = node === null ? '' : ` ${PREPOSITIONS[kind] ?? 'on'} ${node}`;
    const isOne = numberOf(event) === 1;
    const times = isOne && count > 1 ? `, ${count} times` : '';
    return `${subjectOf(event)} ${isOne ? verb[0] : verb[1]}${place}${times}${because}${actor}`;
  }
  switch (kind) {
    case 'crashed':
      return count === 1
        ? `${subjectOf(event)} ended unasked${because}`
        : `${configuration}: ${countText(count, 'end')} that nobody asked for, of ${namesOf(event)}; the last one${because}`;
    case 'schedule':
      return `${configuration}: ${detail ?? ''}${actor}`;
    case 'rollout':
      return `the rollout of ${configuration} ${detail ?? ''}${actor}`;
    case 'added':
      return `${configuration} was added${because}${actor}`;
    case 'changed':
      return `${configuration} changed${because}${actor}`;
    case 'deleted':
      return `${configuration} was deleted`;
    case 'node':
      return `${node} ${detail ?? ''}`;
    case 'action':
      return `${by} ${detail} ${configuration === null ? (node ?? event.instances[0]) : subjectOf(event)}`;
    default:
      return detail ?? '';
  }
}

/** How many instances the event is about. Past the ids that it names, its count stands for them. */
function numberOf({ count, instances }: EventRecord): number {
  return instances.length === 0 || instances.length === MAX_EVENT_INSTANCES ? count : instances.length;
}

function subjectOf(event: EventRecord): string {
  const { configuration, instances } = event;
  const number = numberOf(event);
  return `${number === 1 && instances[0] !== undefined ? instances[0] : number} of ${configuration}`;
}

function namesOf({ instances }: EventRecord): string {
  return instances.length === MAX_EVENT_INSTANCES
    ? `at least ${MAX_EVENT_INSTANCES} instances`
    : instances.join(', ');
}
