/** The decoder of mirrored records: with a value from before it gives what the schema gives. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { decoderOf } from '../../../src/store/decoder.js';

const schema = z.object({
  name: z.string().min(1),
  size: z.int().min(0).nullable(),
  kind: z.literal('tall').optional(),
  storage: z.string().default('local'),
  place: z.object({ port: z.int().max(3), tags: z.array(z.string()) }).nullable(),
  range: z
    .object({ min: z.int(), max: z.int() })
    .refine(({ min, max }) => min <= max)
    .optional(),
});

const some = fc.nat({ max: 4 });
/** The store gives no object without a prototype. */
const plain = { noNullPrototype: true } as const;
/** Sound records, and records with fields that are missing, unknown or wrong. */
const stored = fc.record(
  {
    name: fc.constantFrom('a', 'b', ''),
    size: fc.constantFrom(null, 0, 1, -1, 'x', Number.NaN),
    kind: fc.constantFrom('tall', 'small', undefined),
    storage: fc.constantFrom('local', 'far', null),
    place: fc.oneof(
      fc.constantFrom(null, 'x', []),
      fc.record({ port: some, tags: fc.array(fc.constantFrom('t', 1), { maxLength: 1 }) }, plain),
      fc.record(
        { port: some, tags: fc.constant([]), more: some },
        { ...plain, requiredKeys: ['port', 'tags'] },
      ),
    ),
    range: fc.oneof(fc.constant(undefined), fc.record({ min: some, max: some }, plain)),
    unknown: some,
  },
  { ...plain, requiredKeys: ['name', 'size', 'place'] },
);

it('gives, and refuses, what the schema does, whatever the value was before', () => {
  const decode = decoderOf(schema);
  let kept = 0;
  fc.assert(
    fc.property(stored, fc.array(stored, { minLength: 1, maxLength: 30 }), (first, later) => {
      let known = schema.safeParse(first).data;
      for (const change of later) {
        // Most changes are of a field or two.
        for (const value of [change, { ...known, ...pick(change) }, { ...known }]) {
          const expected = schema.safeParse(value);
          if (!expected.success) {
            expect(() => decode(value, known)).toThrow(z.ZodError);
            continue;
          }
          const decoded = decode(value, known);
          expect(decoded).toStrictEqual(expected.data);
          if (decoded === value) kept++;
          known = decoded;
        }
      }
    }),
    { numRuns: 100 },
  );
  expect(kept).toBeGreaterThan(0);
});

function pick({ name, size }: Readonly<Record<string, unknown>>): object {
  return { name, size };
}
