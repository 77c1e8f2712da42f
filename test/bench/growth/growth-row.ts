/** How a cost grows with a size: one row that holds the largest size against the smallest, and the plot of all sizes. */
import type { Plot } from '../report/plot.js';
import type { Row } from '../table.js';

/** A cost that is flat has 1; the rest is what a short run varies by. */
const TARGET = 1.3;

interface Growth extends Omit<Plot, 'lines'> {
  /** What one unit costs, such as `ms of CPU`; behind each number of the row. */
  readonly unit: string;
  /** What the sizes count, such as `nodes`. */
  readonly of: string;
  /** What the plot shows of a size. Default: its cost. */
  readonly drawn?: (measured: Measured) => number;
  /** Of the first, the row is made too. */
  readonly lines: readonly { readonly label: string; readonly costs: readonly Measured[] }[];
}

export interface Measured {
  readonly size: number;
  readonly cost: number;
}

/** Each line has a row; the first one brings the plot of all. */
export function growthRows({ unit, of, lines, drawn = ({ cost }) => cost, ...words }: Growth): Row[] {
  const plot: Plot = {
    ...words,
    lines: lines.map(({ label, costs }) => ({
      label,
      points: costs.map((measured) => [measured.size, drawn(measured)]),
    })),
  };
  return lines.map(({ label, costs }, index) => {
    const [smallest, largest] = [costs[0], costs.at(-1)];
    if (smallest === undefined || largest === undefined)
      throw new Error(`${words.title}: nothing was measured`);
    const ratio = largest.cost / smallest.cost;
    return {
      id: label,
      figure: `${label}, with ${largest.size} ${of}`,
      value: `${short(largest.cost)} ${unit} (${ratio.toFixed(2)} x)`,
      baseline: `with ${smallest.size} ${of}: ${short(smallest.cost)} ${unit}`,
      target: `<= ${TARGET.toFixed(2)} x`,
      ok: ratio <= TARGET,
      ...(index === 0 && { plot }),
    };
  });
}

function short(cost: number): string {
  return String(Number(cost.toPrecision(3)));
}
