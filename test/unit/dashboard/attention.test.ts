/** Where the rows of the overview lead. */
import { expect, it } from 'vitest';
import {
  hrefOfConcern,
  iconOf,
  stepsOf,
  whyPathOf,
} from '../../../src/dashboard/screens/overview/attention.js';
import type { Concern } from '../../../src/explain/concerns.js';

function concern(kind: Concern['kind'], fields: Partial<Concern> = {}): Concern {
  return { kind, name: 'lobby', tone: 'bad', word: '', text: '', since: null, instance: null, ...fields };
}

it.each<[Concern['kind'], Partial<Concern>, boolean, string]>([
  ['node-lost', { name: 'n/1' }, true, '#/nodes/n%2F1'],
  ['broken-file', {}, true, '#/configurations/lobby/edit'],
  ['failing', { instance: 'a1' }, true, '#/configurations/lobby/edit #/instances/a1 restart'],
  ['failing', { instance: 'a1' }, false, '#/configurations/lobby/edit #/instances/a1'],
  ['not-placed', { instance: 'a1' }, true, '#/nodes #/configurations/lobby/edit'],
  ['held-back', {}, true, '#/configurations/lobby'],
  ['below-minimum', {}, true, '#/configurations/lobby'],
  ['file', { name: 'templates/games/arena' }, true, '#/templates'],
  ['file', { name: '*.json' }, true, '#/configurations'],
  ['record', {}, true, ''],
])(
  'leads from %s %o to the next steps, for a key that operates: %s',
  (kind, fields, canOperate, expected) => {
    const steps = stepsOf(concern(kind, fields), canOperate);
    expect(steps.map((step) => (step.kind === 'open' ? step.href : step.kind)).join(' ')).toBe(expected);
  },
);

it('names the place of each concern, and gives each an icon', () => {
  expect(hrefOfConcern(concern('removed'))).toBe('#/configurations/lobby');
  expect(hrefOfConcern(concern('certificate'))).toBeNull();
  const icons = (['failing', 'node-lost', 'below-minimum'] as const).map((kind) => iconOf(concern(kind)));
  expect(icons).toEqual(['restart', 'nodes', 'bad']);
});

it('explains each row where the API can', () => {
  expect(whyPathOf(concern('node-lost', { name: 'n/1' }))).toBe('/cluster/nodes/n%2F1/why');
  expect(whyPathOf(concern('failing'))).toBe('/configurations/lobby/why');
  expect(whyPathOf(concern('failing', { instance: 'a1' }))).toBe('/instances/a1/why');
  expect(whyPathOf(concern('certificate'))).toBeNull();
});
