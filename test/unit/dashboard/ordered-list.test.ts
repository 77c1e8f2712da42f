/** The dashboard's lists in order: after any changes they are what sorting anew would give. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Order, OrderedList } from '../../../src/dashboard/live/ordered-list.js';

interface Entry {
  readonly rank: number;
  readonly team: string;
  readonly isShown: boolean;
}

const entry = fc.record({
  rank: fc.integer({ min: 0, max: 5 }),
  team: fc.constantFrom('a', 'b', 'c'),
  isShown: fc.boolean(),
});
const change = fc.tuple(fc.constantFrom('k', 'l', 'm', 'n', 'o'), fc.option(entry, { nil: undefined }));

function orderOf(isGrouped: boolean, isDescending: boolean): Order<Entry> {
  return {
    includes: ({ isShown }) => isShown,
    groupOf: isGrouped ? ({ team }) => team : null,
    sortBy: ({ rank }) => rank,
    isDescending,
  };
}

it('stands as if sorted anew, after every batch, and knows the place of each key', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(change)),
      fc.boolean(),
      fc.boolean(),
      (batches, isGrouped, isDescending) => {
        const order = orderOf(isGrouped, isDescending);
        const entries = new Map<string, Entry>();
        const list = new OrderedList(order, entries);
        for (const batch of batches) {
          const before = new Map<string, Entry | undefined>();
          for (const [key, value] of batch) {
            if (!before.has(key)) before.set(key, entries.get(key));
            if (value === undefined) entries.delete(key);
            else entries.set(key, value);
          }
          list.apply({ before, isNew: false }, entries);
          const anew = new OrderedList(order, entries);
          expect(list.keys()).toEqual(anew.keys());
          expect(list.groups()).toEqual(anew.groups());
          expect(list.keys().map((key) => list.placeOf(key))).toEqual(
            list.keys().map((_key, place) => place),
          );
          for (const [key, value] of entries) if (!value.isShown) expect(list.placeOf(key)).toBe(-1);
        }
      },
    ),
  );
});

it('puts groups first, and turns round within a group', () => {
  const list = new OrderedList(
    orderOf(true, true),
    new Map([
      ['x', { rank: 1, team: 'b', isShown: true }],
      ['y', { rank: 2, team: 'b', isShown: true }],
      ['z', { rank: 9, team: 'a', isShown: true }],
      ['hidden', { rank: 9, team: 'a', isShown: false }],
    ]),
  );
  expect(list.keys()).toEqual(['z', 'y', 'x']);
  expect(list.groups()).toEqual([
    { name: 'a', start: 0, count: 1 },
    { name: 'b', start: 1, count: 2 },
  ]);
});
