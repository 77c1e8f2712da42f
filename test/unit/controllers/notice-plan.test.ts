/** Which event a webhook tells next, and when. */
import { describe, expect, it } from 'vitest';
import { recordOf } from '../../../controllers/master/events/plan.js';
import { failed, type NoticeFacts, plan, settled } from '../../../controllers/master/notice/plan.js';
import type { EventRecord, NewEvent } from '../../../src/model/event.js';
import { type NoticeRecord, type Webhook, webhookSchema } from '../../../src/model/webhook.js';

const NOW = 1_000_000_000_000;
const DAY = 86_400_000;
const hookOf = (fields: object = {}): Webhook => webhookSchema.parse({ url: 'https://a.test/x', ...fields });
const idOf = (number: number): string => String(number).padStart(12, '0');
const crash = (agoMs: number, fields: Partial<NewEvent> = {}): EventRecord =>
  recordOf({ kind: 'crashed', configuration: 'lobby', instance: 'aaaaaa', ...fields }, NOW - agoMs);
const numbered = (...events: EventRecord[]): NoticeFacts['events'] =>
  events.map((event, index) => [idOf(index + 1), event]);

/** The steps as text, and the time until the next look. */
function decide(record: NoticeRecord | undefined, events: NoticeFacts['events'], hook = hookOf()): string {
  const { steps, recheckInMs } = plan({ hook, record, events, at: NOW });
  const [step] = steps;
  if (step === undefined) return `wait ${recheckInMs}`;
  const [told] = step.tell ?? [];
  const { cursor, lost } = step.record;
  const text = told === undefined ? `go on from ${Number(cursor)}` : `tell ${Number(told)}`;
  return lost === 0 ? text : `${text}, ${lost} lost`;
}

describe('the plan of the notices', () => {
  const begun = settled(idOf(0), 0);

  it.each<[string, string, NoticeRecord | undefined, NoticeFacts['events'], object?]>([
    [
      'tells nothing of what was before a new webhook',
      'go on from 2',
      undefined,
      numbered(crash(9000), crash(9000)),
    ],
    ['begins in a list without events', 'go on from 0', undefined, []],
    ['tells the first event that is left', 'tell 2', settled(idOf(1), 0), numbered(crash(9000), crash(9000))],
    ['lets an event gather equal ones', 'wait 4000', begun, numbered(crash(1000))],
    ['tells at once where asked to', 'tell 1', begun, numbered(crash(0)), { minSeconds: 0 }],
    ['waits for an event', 'wait undefined', begun, []],
    ['skips other kinds', 'tell 2', begun, numbered(crash(9000, { kind: 'up' }), crash(9000))],
    [
      'passes over what it is not to tell, so that a wider file tells nothing old',
      'go on from 2',
      begun,
      numbered(crash(9000, { kind: 'up' }), crash(0, { kind: 'up' })),
    ],
    [
      'keeps the number of its tries over what it is not to tell',
      'wait undefined',
      failed(begun, idOf(1), 'no', NOW),
      [[idOf(2), crash(9000, { kind: 'up' })]],
    ],
    [
      'skips other configurations, and events of none',
      'tell 3',
      begun,
      numbered(
        crash(9000),
        recordOf({ kind: 'node', node: 'n1', detail: 'is lost' }, NOW - 9000),
        crash(9000, { configuration: 'survival-1' }),
      ),
      { configurations: ['survival-*'] },
    ],
    [
      'tries again a second after the first failure',
      'wait 1000',
      failed(begun, idOf(1), 'no', NOW),
      numbered(crash(9000)),
    ],
    [
      'tries when the time has come',
      'tell 1',
      failed(begun, idOf(1), 'no', NOW - 1000),
      numbered(crash(9000)),
    ],
    [
      'tries at once when the clock was set back by more than an hour',
      'tell 1',
      failed(begun, idOf(1), 'no', NOW + DAY),
      numbered(crash(9000)),
    ],
    ['tells an event of the future: the clock was set back', 'tell 1', begun, numbered(crash(-DAY))],
    [
      'counts what newer events pushed out',
      'tell 4, 2 lost',
      failed(begun, idOf(2), 'no', NOW - DAY / 2),
      [[idOf(4), crash(9000)]],
    ],
  ])('%s', (_what, expected, record, events, hook = {}) => {
    expect(decide(record, events, hookOf(hook))).toBe(expected);
  });

  it('tries an event for a day, doubling the delay up to an hour, and then gives it up', () => {
    let record: NoticeRecord = begun;
    const delays: number[] = [];
    while (record.lost === 0) {
      record = failed(record, idOf(1), 'no', NOW);
      delays.push((record.tryAt - NOW) / 1000);
    }
    expect(delays.slice(0, 14)).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600, 3600]);
    expect(delays.slice(0, -1).reduce((sum, delay) => sum + delay, 0)).toBeGreaterThan(22 * 3600);
    expect(record).toMatchObject({ failingSince: NOW, problem: 'no', cursor: idOf(1) });
    expect(decide({ ...record, tryAt: NOW }, numbered(crash(9000), crash(9000)))).toBe('tell 2, 1 lost');
    expect(failed(record, idOf(2), 'no', NOW)).toMatchObject({ cursor: idOf(2), lost: 2 });
  });
});
