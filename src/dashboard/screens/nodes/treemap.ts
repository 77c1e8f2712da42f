/** Lays out amounts as a treemap: rectangles with areas in proportion. Pure. */

/** In percent of the whole. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

const WHOLE: Area = { left: 0, top: 0, width: 100, height: 100 };

/** Areas, one for each amount, in their order. Each half takes its share of the longer side. `ratio`: width by height. */
export function treemap(amounts: readonly number[], ratio: number, area = WHOLE): Area[] {
  if (amounts.length < 2) return amounts.map(() => area);
  const half = amounts.reduce((sum, amount) => sum + amount, 0) / 2;
  let split = 1;
  let first = amounts[0] ?? 0;
  for (; split < amounts.length - 1 && first + (amounts[split] ?? 0) / 2 < half; split++)
    first += amounts[split] ?? 0;
  const { left, top, width, height } = area;
  const share = first / half / 2;
  const isWide = width * ratio > height;
  const begin = isWide ? { ...area, width: width * share } : { ...area, height: height * share };
  const rest = isWide
    ? { ...area, left: left + begin.width, width: width - begin.width }
    : { ...area, top: top + begin.height, height: height - begin.height };
  return [...treemap(amounts.slice(0, split), ratio, begin), ...treemap(amounts.slice(split), ratio, rest)];
}
