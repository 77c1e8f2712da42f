/** CPU, memory and players: the newest values as text, each with its chart, and all values as a table. */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../../model/instance.js';
import { bytes, cores, count, megabytes } from '../../../parts/amounts.js';
import { Lazy } from '../../../parts/lazy.js';
import { Empty, Failure } from '../../../parts/notes.js';
import { clockTime } from '../../../parts/times.js';
import { text } from '../text.js';
import './usage.css';
import { useEffect, useRef } from 'preact/hooks';
import type { InstanceUsageSeries } from '../../../../api/routes/history-routes.js';
import { apiPath } from '../../../api/api-client.js';
import { useAsked, useServices, useTopic } from '../../../services/services.js';
import {
  clockLead,
  EMPTY_SERIES,
  isKnown,
  type Measure,
  seriesOf,
  type UsageSeries,
  withSample,
} from './usage-series.js';

const MEASURES: readonly Measure[] = ['cpu', 'memory', 'players'];
const TABLE_ROWS = 20;
const MB = 1024 * 1024;

/** The least height of each scale, so that noise near zero does not look like load. */
const LEAST: Readonly<Record<Measure, number>> = { cpu: 5, memory: 16 * MB, players: 1 };
const TEXT_OF: Readonly<Record<Measure, (value: number) => string>> = {
  cpu: text.usage.percent,
  memory: (value) => (value === 0 ? '0' : bytes(value)),
  players: (value) => (Number.isInteger(value) ? count(value) : ''),
};

/** `isNarrow`: the panel stands beside the log, where there is little room. */
export function UsagePanel({
  instance,
  isNarrow,
}: {
  readonly instance: InstanceInfo;
  readonly isNarrow: boolean;
}) {
  const { series, asked, again } = useUsage(instance);
  /** The place in the series under the pointer, shared by all charts. */
  const pointed = useSignal<number | null>(null);
  const known = series.value;
  if (asked.error !== null) return <Failure error={asked.error} onRetry={again} />;
  if (asked.value === undefined) return null;
  if (!MEASURES.some((measure) => isKnown(known[measure])))
    return <Empty title={text.usage.none} hint={text.usage.noneHint} />;
  return (
    <div class={isNarrow ? 'columns usage-narrow' : 'columns'}>
      {MEASURES.filter((measure) => measure !== 'players' || isKnown(known.players)).map((measure) => (
        <section key={measure} class="surface usage-part">
          <div class="spread usage-head">
            <h3>{text.usage[measure]}</h3>
            <p>
              <strong>{valueAt(known, measure, pointed.value)}</strong>{' '}
              <span class="quiet">
                {pointed.value === null ? givenOf(instance, measure) : timeAt(known, pointed.value)}
              </span>
            </p>
          </div>
          <Lazy
            load={async () => (await import('./chart.js')).Chart}
            props={{
              label: text.usage.chart(text.usage[measure]),
              at: known.at,
              values: known[measure],
              textOf: TEXT_OF[measure],
              heightPx: isNarrow ? 120 : 180,
              pointed,
              least: LEAST[measure],
            }}
          />
        </section>
      ))}
      {!isNarrow && <Table series={known} />}
    </div>
  );
}

/** The value under the pointer, else the newest value. */
function valueAt(series: UsageSeries, measure: Measure, place: number | null): string {
  const value = series[measure].at(place ?? -1) ?? null;
  return value === null ? text.usage.unknown : TEXT_OF[measure](value);
}

function timeAt(series: UsageSeries, place: number): string {
  return clockTime((series.at[place] ?? 0) * 1000);
}

function givenOf(instance: InstanceInfo, measure: Measure): string {
  const { allocatedCpu, allocatedRamMB, maxPlayers } = instance;
  switch (measure) {
    case 'cpu':
      return allocatedCpu > 0 ? text.usage.ofReserved(cores(allocatedCpu)) : text.usage.oneCore;
    case 'memory':
      return text.usage.ofReserved(megabytes(allocatedRamMB));
    case 'players':
      return maxPlayers === null ? '' : text.usage.ofPlayers(maxPlayers);
  }
}

function Table({ series }: { readonly series: UsageSeries }) {
  const places = series.at
    .map((_, place) => place)
    .slice(-TABLE_ROWS)
    .reverse();
  return (
    <details class="usage-table">
      <summary>{text.usage.table}</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">{text.usage.time}</th>
            {MEASURES.map((measure) => (
              <th key={measure} scope="col" class="number">
                {text.usage[measure]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {places.map((place) => (
            <tr key={series.at[place]}>
              <th scope="row">{timeAt(series, place)}</th>
              {MEASURES.map((measure) => (
                <td key={measure} class="number">
                  {valueAt(series, measure, place)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The samples that the master keeps, followed by those of the change stream. */
function useUsage({ id, players }: InstanceInfo) {
  const { live } = useServices();
  const store = useTopic('usage');
  const series = useSignal<UsageSeries>(EMPTY_SERIES);
  // Load the series again after a lost connection: the master has the samples that this page missed.
  const isLive = live.connection.state.value.phase === 'live';
  const asked = useAsked(
    (api, signal) => api.get<InstanceUsageSeries>(apiPath('instances', id, 'usage'), { signal }),
    [id, isLive],
  );
  const lead = useRef(0);
  const latestPlayers = useRef(players);
  latestPlayers.current = players;
  const ring = asked.value.value;
  useEffect(() => {
    if (ring === undefined) return;
    lead.current = clockLead(ring.at.at(-1), ring.everyMs, Date.now());
    series.value = seriesOf(ring);
  }, [ring, series]);
  useEffect(
    () =>
      store.listen(({ before, isNew }) => {
        const usage = store.get(id);
        if (usage === undefined || !(isNew || before.has(id))) return;
        series.value = withSample(series.peek(), {
          at: Date.now() - lead.current,
          cpu: usage.cpuPercent,
          memory: usage.memoryBytes,
          players: latestPlayers.current,
        });
      }),
    [store, id, series],
  );
  return { series, asked: asked.value, again: asked.again };
}
