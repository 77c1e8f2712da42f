/**
 * The decisions of instance-cleanup: it removes records that no node holds and revisions that nothing uses, and no
 * others.
 */
import { describe, expect, it } from 'vitest';
import {
  type CleanupFacts,
  ENDED_KEPT_MS,
  type EndedInstance,
  MOST_ENDED,
  plan,
} from '../../../controllers/master/instance-cleanup/plan.js';
import { EXITS_KEPT_MS, MOST_EXIT_RECORDS } from '../../../src/model/exit-record.js';

function decide(facts: CleanupFacts): string[] {
  return plan(facts).steps.map((step) => {
    if (step.do === 'remove-exits') return `remove exits ${step.ids.join(' ')}`;
    if (step.do === 'remove-revision') return `remove revision ${step.hash}`;
    return step.do === 'remove-instance' ? `remove instance ${step.id}` : `collect ${step.id}`;
  });
}

/** Ended a second after each other, the newest `agoMs` ago. */
function ended(count: number, agoMs: number, counts = false): EndedInstance[] {
  return Array.from({ length: count }, (_, index) => ({
    id: `e${index}`,
    agoMs: agoMs + 1000 * index,
    counts,
  }));
}

describe('the plan of the instance cleanup', () => {
  it.each([
    ['one that is wanted', false, false, []],
    ['one that is wanted and held', false, true, []],
    ['one that is unwanted and still held by its node', true, true, []],
    ['one that is unwanted and that nobody holds', true, false, ['remove instance abc123']],
  ])('of instances: %s', (_what, isUnwanted, isHeld, expected) => {
    expect(decide({ kind: 'instance', id: 'abc123', isUnwanted, isHeld })).toEqual(expected);
  });

  it.each<[string, EndedInstance[], number, string[]]>([
    ['keeps the newest of a configuration for ever', ended(1, 10 * ENDED_KEPT_MS), 0, []],
    ['keeps a few for a day', ended(3, ENDED_KEPT_MS - 5000), 0, []],
    ['removes the others after a day', ended(3, ENDED_KEPT_MS - 1000), 0, ['collect e2', 'collect e1']],
    ['keeps at most so many', ended(MOST_ENDED + 2, 0), 0, ['collect e11', 'collect e10']],
    ['keeps those that the minimum counts on', ended(3, ENDED_KEPT_MS, true), 0, []],
    ['removes those that count as far as others stand', ended(3, ENDED_KEPT_MS, true), 1, ['collect e2']],
    ['waits for a clock that was set back', ended(3, -ENDED_KEPT_MS), 0, []],
  ])('of what ended by itself: %s', (_what, facts, spare, expected) => {
    expect(decide({ kind: 'ended', ended: facts, spare })).toEqual(expected);
  });

  it('looks at what ended by itself every minute, as long as one may go', () => {
    expect(plan({ kind: 'ended', ended: ended(2, 0), spare: 0 }).recheckInMs).toBe(60_000);
    expect(plan({ kind: 'ended', ended: ended(1, 0), spare: 0 }).recheckInMs).toBeUndefined();
  });

  it('of ends: keeps so many of so many days, and looks again every hour', () => {
    const exits = (count: number, agoMs: number) =>
      Array.from({ length: count }, (_, index) => ({ id: `x${index}`, agoMs }));
    expect(decide({ kind: 'exits', exits: exits(MOST_EXIT_RECORDS, 0) })).toEqual([]);
    expect(decide({ kind: 'exits', exits: exits(MOST_EXIT_RECORDS + 2, 0) })).toEqual([
      `remove exits x${MOST_EXIT_RECORDS} x${MOST_EXIT_RECORDS + 1}`,
    ]);
    expect(decide({ kind: 'exits', exits: exits(2, EXITS_KEPT_MS) })).toEqual(['remove exits x0 x1']);
    expect(plan({ kind: 'exits', exits: exits(1, 0) }).recheckInMs).toBe(3_600_000);
  });

  it('of revisions: keeps those in use and removes the others', () => {
    expect(decide({ kind: 'revision', hash: 'f00', isUsed: true })).toEqual([]);
    expect(decide({ kind: 'revision', hash: 'f00', isUsed: false })).toEqual(['remove revision f00']);
  });
});
