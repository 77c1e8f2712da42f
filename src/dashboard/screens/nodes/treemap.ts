/** Lays out amounts as a treemap: rectangles with areas in proportion, as square as they get. Pure. */

/** In percent of the whole. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** One area for each amount, in their order. Larger amounts first give squarer areas. `ratio`: width by height. */
export function treemap(amounts: readonly number[], ratio: number): Area[] {
  const total = amounts.reduce((sum, amount) => sum + amount, 0);
  const areas: Area[] = [];
  let [left, top, width, height] = [0, 0, ratio, 1];
  for (let from = 0; from < amounts.length; ) {
    const side = Math.min(width, height);
    const part = (to: number): number[] => amounts.slice(from, to).map((amount) => (amount / total) * ratio);
    let to = from + 1;
    while (to < amounts.length && worstOf(part(to + 1), side) <= worstOf(part(to), side)) to++;
    const sizes = part(to);
    const sum = sizes.reduce((all, size) => all + size, 0);
    const depth = sum / side;
    let along = 0;
    for (const size of sizes) {
      const length = size / depth;
      const isColumn = width >= height;
      areas.push({
        left: ((left + (isColumn ? 0 : along)) / ratio) * 100,
        top: (top + (isColumn ? along : 0)) * 100,
        width: ((isColumn ? depth : length) / ratio) * 100,
        height: (isColumn ? length : depth) * 100,
      });
      along += length;
    }
    if (width >= height) [left, width] = [left + depth, Math.max(width - depth, Number.EPSILON)];
    else [top, height] = [top + depth, Math.max(height - depth, Number.EPSILON)];
    from = to;
  }
  return areas;
}

/** The worst proportion of the sides when these sizes fill a strip along a side; 1: all are squares. */
function worstOf(sizes: readonly number[], side: number): number {
  const sum = sizes.reduce((all, size) => all + size, 0);
  const [most, least] = [Math.max(...sizes), Math.min(...sizes)];
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}
