/** Places of the dashboard as addresses, and back. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { hrefOf, readPlace } from '../../../src/dashboard/router/place.js';

it('reads every address that it writes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ minLength: 1, unit: 'grapheme' })),
      fc.dictionary(fc.string({ minLength: 1 }), fc.string({ unit: 'grapheme' }), { noNullPrototype: true }),
      (path, query) => {
        expect(readPlace(hrefOf(path, query))).toEqual({ path, query });
      },
    ),
  );
});

it.each([
  ['', [], {}],
  ['#/', [], {}],
  ['#/instances', ['instances'], {}],
  ['#/instances/?sort=-name', ['instances'], { sort: '-name' }],
  ['#/a%2Fb?q=1?2', ['a/b'], { q: '1?2' }],
  ['#/100%', ['100%'], {}],
])('reads %s', (hash, path, query) => {
  expect(readPlace(hash)).toEqual({ path, query });
});

it('leaves out of an address what is not set', () => {
  expect(hrefOf(['nodes'], { find: undefined, sort: 'name' })).toBe('#/nodes?sort=name');
});
