/** A rollout in words. */
import { describe, expect, it } from 'vitest';
import { rolloutAdvice, rolloutText, type ToldRollout } from '../../../src/model/plain/rollout-text.js';

const counts = { total: 10, updated: 4, good: 3, outdated: 6, waiting: 2 };

function told(fields: Partial<ToldRollout>): string {
  return rolloutText({
    state: 'rolling',
    cause: 'content',
    reason: null,
    message: null,
    paused: null,
    counts,
    ...fields,
  });
}

describe('a rollout in words', () => {
  const progress =
    '3 of 10 instances good, 1 new and not good yet, 6 to be replaced, 2 of these wait for their players to leave';
  const done = { total: 10, updated: 10, good: 10, outdated: 0, waiting: 0 };

  it.each<[string, Partial<ToldRollout>, string]>([
    ['that goes on', {}, `is under way: ${progress}`],
    ['whose canaries are good', { state: 'awaiting-promotion' }, `waits for promotion: ${progress}`],
    [
      'that is paused',
      { state: 'paused', paused: { by: 'deploy', at: 1, was: 'rolling' } },
      `is paused by deploy: ${progress}`,
    ],
    [
      'that failed',
      { state: 'failed', reason: 'no-progress', message: 'none became good' },
      'failed: none became good',
    ],
    [
      'that a person takes back',
      { state: 'rolling-back', reason: 'rollback', message: 'too slow' },
      `is rolling back (asked for: too slow): ${progress}`,
    ],
    [
      'that is taken back',
      { state: 'rolled-back', reason: 'rollback', message: 'too slow' },
      'is rolled back: too slow',
    ],
    ['that is done', { state: 'complete', counts: done }, 'is complete: 10 of 10 instances good'],
  ])('%s', (_what, fields, expected) => {
    expect(told(fields)).toBe(expected);
  });

  it('comes with what the operator can do, where something needs doing', () => {
    expect(rolloutAdvice('web', { state: 'rolling' })).toBeUndefined();
    expect(rolloutAdvice('web', { state: 'complete' })).toBeUndefined();
    expect(rolloutAdvice('web', { state: 'paused' })).toContain('rollout resume web');
    expect(rolloutAdvice('web', { state: 'awaiting-promotion' })).toContain('rollout promote web');
    expect(rolloutAdvice('web', { state: 'failed' })).toContain('rollout retry web');
  });
});
