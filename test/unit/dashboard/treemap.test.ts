/** How the instances of a node share the area of its map. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { treemap } from '../../../src/dashboard/screens/nodes/treemap.js';

it('gives each amount its share of the area, within the whole, and no place twice', () => {
  const amounts = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(amounts, fc.constantFrom(1, 3, 5), (sizes, ratio) => {
      const areas = treemap(sizes, ratio);
      const total = sizes.reduce((sum, size) => sum + size, 0);
      expect(areas).toHaveLength(sizes.length);
      areas.forEach(({ left, top, width, height }, place) => {
        expect((width * height) / 10_000).toBeCloseTo((sizes[place] ?? 0) / total, 6);
        expect(Math.min(left, top)).toBeGreaterThanOrEqual(0);
        expect(Math.max(left + width, top + height)).toBeLessThanOrEqual(100.000_001);
      });
      const sum = areas.reduce((all, { width, height }) => all + width * height, 0);
      expect(sum / 10_000).toBeCloseTo(1, 6);
    }),
  );
});

it('has no area for nothing', () => {
  expect(treemap([], 3)).toEqual([]);
});
