/**
 * The decisions of instance-cleanup: it removes records that no node holds and revisions that nothing uses, and no
 * others.
 */
import { describe, expect, it } from 'vitest';
import { type CleanupFacts, plan } from '../../../controllers/master/instance-cleanup/plan.js';

function decide(facts: CleanupFacts): string[] {
  return plan(facts).steps.map((step) =>
    step.do === 'remove-instance' ? `remove instance ${step.id}` : `remove revision ${step.hash}`,
  );
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

  it('of revisions: keeps those in use and removes the others', () => {
    expect(decide({ kind: 'revision', hash: 'f00', isUsed: true })).toEqual([]);
    expect(decide({ kind: 'revision', hash: 'f00', isUsed: false })).toEqual(['remove revision f00']);
  });
});
