/** The series of an instance: the samples that the master keeps, then those of the change stream. */
import { type ReadonlySignal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { InstanceUsageSeries } from '../../../../api/routes/history-routes.js';
import type { InstanceInfo } from '../../../../model/instance.js';
import { apiPath } from '../../../api/api-client.js';
import { useServices } from '../../../services/services.js';
import { type Asked, useAsked, useTopic } from '../../../services/use-live.js';
import { clockLead, EMPTY_SERIES, seriesOf, type UsageSeries, withSample } from './usage-series.js';

interface Usage {
  readonly series: ReadonlySignal<UsageSeries>;
  readonly asked: Asked<InstanceUsageSeries>;
  readonly again: () => void;
}

export function useUsage({ id, players }: Pick<InstanceInfo, 'id' | 'players'>): Usage {
  const { live } = useServices();
  const store = useTopic('usage');
  const series = useSignal<UsageSeries>(EMPTY_SERIES);
  // After a lost connection the series is loaded again, because the master has the samples that this page missed.
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
