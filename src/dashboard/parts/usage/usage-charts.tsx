/**
 * CPU, memory and players of an instance, a configuration, a node or the cluster, over up to a day. Shows the newest
 * values as text, each with its chart, and all values as a table. Restarts and deploys are marked.
 */
import { useSignal } from '@preact/signals';
import type { ShownUsage } from '../../../api/routes/usage-routes.js';
import { useGot, useRound, useServices } from '../../services/services.js';
import { BYTES_IN_MB, bytes, count } from '../amounts.js';
import { Select } from '../form.js';
import { Lazy } from '../lazy.js';
import { Empty, Failure } from '../notes.js';
import { Table } from '../table/table.js';
import { clockTime } from '../times.js';
import { text } from './text.js';
import './usage.css';

const MEASURES = ['cpuPercent', 'memoryBytes', 'players'] as const;
export type Measure = (typeof MEASURES)[number];
const TABLE_ROWS = 20;
const MOST_MARKS_NAMED = 4;

/** The least height of each scale, so that noise near zero does not look like load. */
const LEAST: Readonly<Record<Measure, number>> = { cpuPercent: 5, memoryBytes: 16 * BYTES_IN_MB, players: 1 };
const TEXT_OF: Readonly<Record<Measure, (value: number) => string>> = {
  cpuPercent: text.percent,
  memoryBytes: (value) => (value === 0 ? '0' : bytes(value)),
  players: (value) => (Number.isInteger(value) ? count(value) : ''),
};

const RANGES = ['30m', '6h', '1d'] as const;
type Range = (typeof RANGES)[number];
/** How often the page asks again. Nodes measure every ten seconds. */
const EVERY_MS: Readonly<Record<Range, number>> = { '30m': 10_000, '6h': 60_000, '1d': 240_000 };

interface UsageChartsProps {
  /** The subject; absent: the cluster. */
  readonly of?: { readonly instance?: string; readonly configuration?: string; readonly node?: string };
  /** The charts stand beside a log, where there is little room. */
  readonly isNarrow?: boolean;
  /** The range before the operator has chosen one. */
  readonly range?: Range;
  /** The words behind a value, such as "of 2 GB reserved". */
  readonly about?: (measure: Measure) => string;
}

export function UsageCharts({ of = {}, isNarrow = false, range: first = '30m', about }: UsageChartsProps) {
  const { router } = useServices();
  const chosen = router.place.value.query.range;
  const range = RANGES.find((one) => one === chosen) ?? first;
  const asked = useGot<ShownUsage>('/usage', [useRound(EVERY_MS[range])], { ...of, range });
  /** The place in the series under the pointer, shared by all charts. */
  const pointed = useSignal<number | null>(null);
  const { value: usage, error } = asked.value;
  // The last charts stay while there is no connection.
  if (usage === undefined) return error === null ? null : <Failure error={error} onRetry={asked.again} />;
  const { at, series, marks, missing } = usage;
  const [sum] = series;
  const restarts = at.filter((_ms, place) => (sum?.restarts[place] ?? 0) > 0);
  const starts = (sum?.restarts ?? []).reduce<number>((total, value) => total + (value ?? 0), 0);
  return (
    <div class={isNarrow ? 'columns usage-narrow' : 'columns'}>
      <div class="spread usage-head usage-wide">
        <Select name="range" label={text.range} options={Object.entries(text.ranges)} usual={first} />
        <span class="quiet">{text.restarts(starts)}</span>
      </div>
      {missing.length > 0 && (
        <p class="notice usage-wide">
          {text.missing(missing.map(({ nodeId, why }) => `${nodeId} (${why})`).join(', '))}
        </p>
      )}
      {sum === undefined && <Empty title={text.none} hint={text.noneHint} />}
      {MEASURES.map((measure) => {
        const values = sum?.[measure] ?? [];
        // An app that reports no players gets no chart of players.
        if (sum === undefined || (measure === 'players' && !isKnown(values))) return null;
        const most = TEXT_OF[measure](Math.max(...values.map((value) => value ?? 0)));
        return (
          <section key={measure} class="surface usage-part">
            <div class="spread usage-head">
              <h2>{text[measure]}</h2>
              <p>
                <strong>{valueAt(values, measure, pointed.value)}</strong>{' '}
                <span class="quiet">
                  {pointed.value === null
                    ? about?.(measure) || text.most(most)
                    : clockTime(at[pointed.value] ?? 0)}
                </span>
              </p>
            </div>
            <Lazy
              load={async () => (await import('./chart.js')).Chart}
              props={{
                label: text.chart(text[measure], text.ranges[range]),
                at,
                values,
                textOf: TEXT_OF[measure],
                heightPx: isNarrow ? 120 : 180,
                pointed,
                least: LEAST[measure],
                restarts,
                deploys: marks.map((mark) => mark.at),
              }}
            />
          </section>
        );
      })}
      <ul class="usage-wide quiet">
        {marks.slice(-MOST_MARKS_NAMED).map((mark) => (
          <li key={`${mark.at} ${mark.text}`}>
            {clockTime(mark.at).slice(0, 5)} {mark.text}
          </li>
        ))}
      </ul>
      {!isNarrow && sum !== undefined && <UsageTable {...usage} />}
    </div>
  );
}

export function isKnown(values: readonly (number | null)[]): boolean {
  return values.some((value) => value !== null);
}

/** The value under the pointer, else the newest value. */
function valueAt(values: readonly (number | null)[], measure: Measure, place: number | null): string {
  const value = values.at(place ?? -1) ?? null;
  return value === null ? text.unknown : TEXT_OF[measure](value);
}

function UsageTable({ at, series: [sum] }: ShownUsage) {
  const measured = MEASURES.map((measure) => ({
    label: text[measure],
    cell: (place: number) => valueAt(sum?.[measure] ?? [], measure, place),
  }));
  return (
    <details class="usage-wide">
      <summary>{text.table}</summary>
      <Table
        label={text.table}
        columns={[{ label: text.time, cell: (place) => clockTime(at[place] ?? 0) }, ...measured]}
        rows={[...at.keys()].slice(-TABLE_ROWS).reverse()}
        keyOf={(place) => `${at[place]}`}
      />
    </details>
  );
}
