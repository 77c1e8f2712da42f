/** A text is found where `indexOf` finds it, also where it overlaps with itself. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { textFinder } from '../../../src/logs/search/line-pattern.js';

const few = (minLength: number, maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength });

it('finds what is there, from any place on, and nothing else', () => {
  fc.assert(
    fc.property(few(1, 40), few(0, 200), few(0, 40), fc.nat(60), (wanted, before, after, from) => {
      for (const line of [before + wanted + after, before, wanted.slice(1) + before])
        expect(textFinder(wanted)(line, from)).toBe(line.indexOf(wanted, from));
    }),
  );
});
