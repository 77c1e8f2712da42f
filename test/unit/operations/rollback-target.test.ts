/** The content that a rollback without a number goes back to, by the history and the rollout. */
import { expect, it } from 'vitest';
import type { KeptContent } from '../../../src/model/configuration-history.js';
import type { RolloutRecord } from '../../../src/model/rollout.js';
import type { Reads } from '../../../src/operations/reads.js';
import { configurationHistory } from '../../../src/operations/rollouts/configuration-history.js';
import { configurationRecord } from '../../support/control-plane/explain-facts.js';
import { given } from '../../support/control-plane/given.js';
import { rolloutRecord } from '../../support/control-plane/records.js';

type Outcome = NonNullable<KeptContent['end']>['outcome'];

/** The number of the target; undefined: none. `ends`: how each content but the newest ended; revisions are `r1`, `r2`. */
function targetOf(ends: readonly Outcome[], rollout?: Partial<RolloutRecord>): number | undefined {
  const contents = [...ends, undefined].map((outcome, place): KeptContent => {
    const origin = { file: 'lobby.json', node: null, key: null, commit: null, isDirty: null };
    const end = outcome && { outcome, reason: null, at: 9 };
    return { ...origin, number: place + 1, revision: `r${place + 1}`, at: 1, ...(end && { end }) };
  });
  const hash = contents.at(-1)?.revision ?? '';
  const known = rollout && rolloutRecord({ name: 'lobby', to: hash, ...rollout });
  const history = configurationHistory(
    given<Reads>({
      configurations: { get: () => ({ revision: 1, value: configurationRecord({ hash }) }) },
      histories: { get: () => ({ revision: 1, value: { contents } }) },
      rollouts: { get: () => known && { revision: 1, value: known } },
      instanceRevisions: { of: () => new Map() },
    }),
    'lobby',
  );
  return history.find(({ isRollbackTarget }) => isRollbackTarget)?.number;
}

it.each<[string, number | undefined, Parameters<typeof targetOf>]>([
  ['the one before', 1, [['rolled-out'], undefined]],
  ['the one before a complete one', 1, [['replaced'], { state: 'complete', from: 'r1' }]],
  [
    'the good one, which is in force after a failed rollout',
    1,
    [['rolled-out'], { state: 'failed', from: 'r1' }],
  ],
  ['the good one before two that failed', 1, [['rolled-out', 'failed'], { state: 'failed', from: 'r1' }]],
  [
    'the good one, not one that another replaced before it was good',
    1,
    [['rolled-out', 'replaced'], { from: 'r1' }],
  ],
  [
    'the good one that a rollout came back to by itself',
    1,
    [['rolled-out'], { state: 'rolled-back', reason: 'no-progress', from: 'r1' }],
  ],
  [
    'one further after a rollback by a person',
    1,
    [['rolled-out', 'rolled-out'], { state: 'rolled-back', reason: 'rollback', from: 'r2' }],
  ],
  [
    'one further when the older one was not good either',
    1,
    [['rolled-out', 'rolled-out'], { state: 'failed', reason: 'rollback-failed', from: 'r2' }],
  ],
  ['none of those that failed', undefined, [['failed'], { state: 'failed', from: null }]],
  ['none before the first one', undefined, [[], { state: 'complete', from: null }]],
  ['the one before a restart', 1, [['rolled-out'], { state: 'complete', from: 'r2' }]],
])('is %s', (_name, expected, given) => {
  expect(targetOf(...given)).toBe(expected);
});
