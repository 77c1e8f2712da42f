import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isSameValue } from '../../../src/model/plain/same-value.js';

it('says what isDeepStrictEqual says of any two values of JSON', () => {
  // As text and back: a negative zero is no JSON.
  const value = fc.jsonValue({ maxDepth: 3 }).map((any): unknown => JSON.parse(JSON.stringify(any)));
  fc.assert(
    fc.property(value, value, (a, b) => {
      expect(isSameValue(a, b)).toBe(isDeepStrictEqual(a, b));
      expect(isSameValue(a, structuredClone(a))).toBe(true);
    }),
  );
});

it('tells apart what differs in one field, in its kind, or in what it has', () => {
  const placed = { nodeId: 'alpha', port: 1, templates: [{ name: 'a' }] };
  expect(isSameValue(placed, { templates: [{ name: 'a' }], port: 1, nodeId: 'alpha' })).toBe(true);
  expect(isSameValue(placed, { ...placed, port: 2 })).toBe(false);
  expect(isSameValue(placed, { ...placed, templates: [{ name: 'b' }] })).toBe(false);
  expect(isSameValue(placed, { ...placed, templates: [] })).toBe(false);
  expect(isSameValue(placed, null)).toBe(false);
  expect(isSameValue([], {})).toBe(false);
  expect(isSameValue({ a: 1, toString: 1 }, { a: 1, b: 1 })).toBe(false);
});
