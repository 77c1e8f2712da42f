/** Where the rows of the overview lead. */
import { expect, it } from 'vitest';
import { stepOf, whyPathOf } from '../../../src/dashboard/screens/overview/attention.js';
import type { Concern } from '../../../src/explain/concerns.js';

function concern(kind: Concern['kind'], fields: Partial<Concern> = {}): Concern {
  return { kind, name: 'lobby', tone: 'bad', word: '', text: '', since: null, instance: null, ...fields };
}

it.each<[Concern['kind'], Partial<Concern>, boolean, string | undefined]>([
  ['node-lost', { name: 'n/1' }, true, '#/nodes/n%2F1'],
  ['broken-file', {}, true, '#/configurations/lobby/edit'],
  ['failing', { instance: 'a1' }, true, 'restart'],
  ['failing', { instance: 'a1' }, false, '#/instances/a1'],
  ['not-placed', { instance: 'a1' }, true, '#/nodes'],
  ['held-back', {}, true, '#/configurations/lobby'],
  ['below-minimum', {}, true, '#/instances?find=lobby'],
  ['removed', {}, true, '#/instances?find=lobby'],
  ['file', { name: 'templates/games/arena' }, true, '#/templates'],
  ['file', { name: '*.json' }, true, '#/configurations'],
  ['record', {}, true, undefined],
])('leads from %s %o to the next step, for a key that operates: %s', (kind, fields, canOperate, expected) => {
  const step = stepOf(concern(kind, fields), canOperate);
  expect(step?.kind === 'open' ? step.href : step?.kind).toBe(expected);
});

it('explains each row where the API can', () => {
  expect(whyPathOf(concern('node-lost', { name: 'n/1' }))).toBe('/cluster/nodes/n%2F1/why');
  expect(whyPathOf(concern('failing'))).toBe('/configurations/lobby/why');
  expect(whyPathOf(concern('certificate'))).toBeNull();
});
