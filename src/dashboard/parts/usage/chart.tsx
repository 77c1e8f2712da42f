/** One line over time, drawn by uPlot, which is loaded when a chart is first shown. The colours come from the theme. */
import type { Signal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { useServices } from '../../services/services.js';
import { useMedia } from '../use-phone.js';

interface ChartProps {
  readonly label: string;
  readonly at: readonly number[];
  readonly values: readonly (number | null)[];
  readonly textOf: (value: number) => string;
  readonly heightPx: number;
  /** The sample under the pointer, which all charts beside each other share; null: none. */
  readonly pointed: Signal<number | null>;
  /** The least value that the top of the scale has. */
  readonly least: number;
  /** When something restarted or was deployed, in Unix milliseconds: vertical lines. */
  readonly restarts: readonly number[];
  readonly deploys: readonly number[];
}

const DARK = '(prefers-color-scheme: dark)';
const AXIS_PX = 64;
const TIME_AXIS_PX = 26;
const LEAST_SPAN_S = 5 * 60;
/** A series with fewer samples than this is shown as points. */
const FEW = 3;
const LEAST_MARK_GAP_PX = 8;

export function Chart(props: ChartProps) {
  const { at, values, heightPx, label, restarts, deploys } = props;
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const theme = `${useServices().theme.value} ${useMedia(DARK).value}`;
  useLayoutEffect(() => {
    const element = host.current;
    if (element === null) return;
    const drawn = new UPlot(optionsFor(element, latest), dataOf(latest.current), element);
    plot.current = drawn;
    const sizes = new ResizeObserver(() =>
      drawn.setSize({ width: element.clientWidth, height: latest.current.heightPx }),
    );
    sizes.observe(element);
    return () => {
      sizes.disconnect();
      drawn.destroy();
    };
  }, [theme, heightPx, at.length < FEW]);
  useEffect(() => plot.current?.setData(dataOf({ at, values })), [at, values, restarts, deploys]);
  return <div ref={host} class="chart" role="img" aria-label={label} style={{ height: `${heightPx}px` }} />;
}

function dataOf({ at, values }: Pick<ChartProps, 'at' | 'values'>): UPlot.AlignedData {
  return [at.map((ms) => ms / 1000), [...values]];
}

function optionsFor(element: HTMLElement, latest: { readonly current: ChartProps }): UPlot.Options {
  const { pointed, heightPx } = latest.current;
  const { color, borderTopColor, outlineColor, fontFamily, caretColor } = getComputedStyle(element);
  const axis = {
    stroke: outlineColor,
    grid: { stroke: borderTopColor, width: 1 },
    ticks: { show: false },
    font: `11px ${fontFamily}`,
  };
  return {
    width: element.clientWidth,
    height: heightPx,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 6 } },
    padding: [8, 20, 0, 0],
    scales: {
      // Show a least span of time, so that a few samples stand at the right and do not fill the width.
      x: { range: (_plot, least, most) => [Math.min(least ?? 0, (most ?? 0) - LEAST_SPAN_S), most ?? 0] },
      y: { range: (_plot, _least, most) => [0, Math.max(latest.current.least, most ?? 0) * 1.1] },
    },
    axes: [
      {
        ...axis,
        size: TIME_AXIS_PX,
        space: 56,
        values: (_plot, seconds) =>
          seconds.map((second) => new Date(second * 1000).toTimeString().slice(0, 5)),
      },
      {
        ...axis,
        size: AXIS_PX,
        space: 28,
        values: (_plot, values) => values.map((value) => latest.current.textOf(value)),
      },
    ],
    series: [
      {},
      { stroke: color, width: 1.5, fill: faint(color), points: { show: latest.current.at.length < FEW } },
    ],
    hooks: {
      draw: [
        (plot) => {
          const { restarts, deploys } = latest.current;
          drawMarks(plot, restarts, caretColor);
          drawMarks(plot, deploys, outlineColor);
        },
      ],
      setCursor: [
        ({ cursor }) => {
          pointed.value = cursor.idx ?? null;
        },
      ],
    },
  };
}

/** Draws a dashed line at each instant in view, but no wall of many restarts one after the other. */
function drawMarks({ ctx, bbox, valToPos }: UPlot, instants: readonly number[], color: string): void {
  ctx.strokeStyle = color;
  ctx.setLineDash([3, 3]);
  ctx.beginPath();
  let last = bbox.left - LEAST_MARK_GAP_PX;
  for (const instant of instants) {
    const x = Math.round(valToPos(instant / 1000, 'x', true));
    if (x - last < LEAST_MARK_GAP_PX || x > bbox.left + bbox.width) continue;
    last = x;
    ctx.moveTo(x, bbox.top);
    ctx.lineTo(x, bbox.top + bbox.height);
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

function faint(color: string): string {
  return `color-mix(in srgb, ${color} 14%, transparent)`;
}
