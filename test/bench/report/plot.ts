/**
 * A plot as SVG, written by hand: how a cost grows. Text is readable at the width of a phone. It brings its own
 * background, light or dark as the reader's system is, so it stands on any page.
 */
import { z } from 'zod';

export const plotSchema = z.object({
  /** Of the file, without its ending. */
  name: z.string().regex(/^[a-z0-9-]+$/),
  title: z.string(),
  /** With its unit. The axis is logarithmic; each measured place has a tick. */
  xLabel: z.string(),
  /** With its unit. The axis begins at 0. */
  yLabel: z.string(),
  lines: z
    .array(
      z.object({ label: z.string(), points: z.array(z.tuple([z.number().positive(), z.number()])).min(1) }),
    )
    .min(1)
    .max(3),
});
export type Plot = z.infer<typeof plotSchema>;

const [WIDTH, HEIGHT] = [360, 260];
const FRAME = { left: 48, right: WIDTH - 20, top: 68, bottom: HEIGHT - 48 };
const TICKS = 4;
const STYLE = `
  svg { font: 12px system-ui, sans-serif; }
  .page { fill: #ffffff; } text { fill: #24292f; } .title { font-size: 13px; font-weight: 600; }
  .grid { stroke: #d0d7de; } .axis { stroke: #6e7781; }
  .line { fill: none; stroke-width: 2; } .end { text-anchor: end; } .middle { text-anchor: middle; }
  .line0 { stroke: #0969da; } .dot0 { fill: #0969da; }
  .line1 { stroke: #bc4c00; stroke-dasharray: 6 3; } .dot1 { fill: #bc4c00; }
  .line2 { stroke: #1a7f37; stroke-dasharray: 2 3; } .dot2 { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; } text { fill: #e6edf3; } .grid { stroke: #30363d; } .axis { stroke: #8b949e; }
    .line0 { stroke: #58a6ff; } .dot0 { fill: #58a6ff; }
    .line1 { stroke: #f0883e; } .dot1 { fill: #f0883e; }
    .line2 { stroke: #56d364; } .dot2 { fill: #56d364; }
  }`;

interface Scales {
  readonly xs: readonly number[];
  readonly x: (value: number) => number;
  readonly y: (value: number) => number;
  /** Between two ticks of the y axis. */
  readonly step: number;
}

export function svgOf(plot: Plot): string {
  const scales = scalesOf(plot);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img">`,
    `<title>${escaped(plot.title)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" width="${WIDTH}" height="${HEIGHT}" rx="6"/>`,
    text(WIDTH / 2, 20, 'title middle', plot.title),
    ...legend(plot),
    text(8, FRAME.top - 12, '', plot.yLabel),
    text((FRAME.left + FRAME.right) / 2, HEIGHT - 12, 'middle', plot.xLabel),
    ...yAxis(scales),
    ...xAxis(scales),
    ...plot.lines.flatMap(({ points }, index) => curve(points, index, scales)),
    '</svg>',
    '',
  ].join('\n');
}

function scalesOf({ lines }: Plot): Scales {
  const points = lines.flatMap((line) => line.points);
  const xs = [...new Set(points.map(([x]) => x))].toSorted((a, b) => a - b);
  const [first = 1, last = 1] = [xs[0], xs.at(-1)];
  const step = niceStep(Math.max(...points.map(([, y]) => y)) / TICKS);
  const width = FRAME.right - FRAME.left;
  return {
    xs,
    step,
    // A tick stands half a label inside of the frame.
    x: (value) =>
      FRAME.left +
      16 +
      (first === last ? 0 : (width - 32) * (Math.log(value / first) / Math.log(last / first))),
    y: (value) => FRAME.bottom - ((FRAME.bottom - FRAME.top) * value) / (step * TICKS),
  };
}

/** The next of 1, 2, 2.5, 5, 10 and their powers of ten. */
function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  return power * ([1, 2, 2.5, 5].find((step) => step * power >= least) ?? 10);
}

function yAxis({ y, step }: Scales): string[] {
  return Array.from({ length: TICKS + 1 }, (_, index) => index * step).flatMap((value) => [
    line(FRAME.left, y(value), FRAME.right, y(value), value === 0 ? 'axis' : 'grid'),
    text(FRAME.left - 6, y(value) + 4, 'end', short(value)),
  ]);
}

function xAxis({ xs, x }: Scales): string[] {
  return xs.flatMap((value) => [
    line(x(value), FRAME.bottom, x(value), FRAME.bottom + 4, 'axis'),
    text(x(value), FRAME.bottom + 18, 'middle', short(value)),
  ]);
}

function curve(points: readonly (readonly [number, number])[], index: number, { x, y }: Scales): string[] {
  const places = points.map(([px, py]) => [round(x(px)), round(y(py))]);
  return [
    `<polyline class="line line${index}" points="${places.map((place) => place.join(',')).join(' ')}"/>`,
    ...places.map(([cx, cy]) => `<circle class="dot${index}" cx="${cx}" cy="${cy}" r="3"/>`),
  ];
}

/** One line needs none: the title names it. */
function legend({ lines }: Plot): string[] {
  if (lines.length < 2) return [];
  const width = (WIDTH - 16) / lines.length;
  return lines.flatMap(({ label }, index) => {
    const left = 8 + index * width;
    return [line(left, 36, left + 22, 36, `line line${index}`), text(left + 28, 40, '', label)];
  });
}

function line(x1: number, y1: number, x2: number, y2: number, kind: string): string {
  return `<line class="${kind}" x1="${round(x1)}" y1="${round(y1)}" x2="${round(x2)}" y2="${round(y2)}"/>`;
}

function text(x: number, y: number, kind: string, words: string): string {
  return `<text${kind === '' ? '' : ` class="${kind}"`} x="${round(x)}" y="${round(y)}">${escaped(words)}</text>`;
}

/** 20000 as 20k: labels of an axis stand close together. */
function short(value: number): string {
  return value >= 1000 ? `${Number((value / 1000).toPrecision(3))}k` : String(Number(value.toPrecision(3)));
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(words: string): string {
  return words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
