/** One line of numbers, the wall of configurations, what needs somebody, and what happened last. */
import { concernsOf } from '../../../explain/concerns.js';
import { HEALTH_TONES } from '../../../explain/health-states.js';
import type { ClusterStatus } from '../../../operations/cluster-status.js';
import { count } from '../../parts/amounts.js';
import { Empty, Failure } from '../../parts/notes.js';
import { Page, Panel } from '../../parts/page.js';
import { UsageCharts } from '../../parts/usage/usage-charts.js';
import { useAsked, useEntries, useRound, useServices, useTopic } from '../../services/services.js';
import { ConcernList } from './concern-list.js';
import { EventList } from './event-list.js';
import './overview.css';
import { text } from './text.js';
import { Figures, Wall } from './wall.js';

export function Screen() {
  const { session } = useServices();
  const instances = useEntries('instances');
  const nodes = useEntries('nodes');
  const configurations = useEntries('health');
  const isLoaded = [useTopic('instances'), useTopic('nodes'), useTopic('health')].every(
    (topic) => topic.isLoaded.value,
  );
  const round = useRound();
  // A restricted key sees faults of its configurations only, and these are in their health.
  const asked = useAsked(
    async (api, signal) =>
      session.isUnrestricted ? api.get<ClusterStatus>('/cluster/status', { signal }) : null,
    [round],
  );
  const { value: state, error } = asked.value;
  const concerns = concernsOf({
    brokenFiles: state?.brokenFiles ?? [],
    undelivered: state?.undelivered ?? [],
    unreadableRecords: state?.unreadableRecords ?? [],
    certificateProblem: state?.apiCertificate?.problem ?? null,
    nodes: nodes.values(),
    configurations: configurations.values(),
  });
  const online = [...instances.values()].filter(({ state }) => state === 'ONLINE').length;
  const unwell = [...configurations.values()].filter(({ health }) => HEALTH_TONES[health.state] === 'bad');
  const title = (
    <>
      <span class="hidden-text">{text.title} </span>
      {isLoaded && instances.size > 0 ? text.online(online, instances.size) : text.title}
    </>
  );
  return (
    <Page title={title}>
      {isLoaded && <Figures unwell={unwell.length} />}
      {isLoaded && <Wall />}
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      <Panel title={text.attention} {...(concerns.length > 0 && { about: count(concerns.length) })}>
        {concerns.length > 0 ? (
          <ConcernList concerns={concerns} />
        ) : (
          <NoConcern isLoaded={isLoaded} isNew={instances.size === 0} />
        )}
      </Panel>
      {isLoaded && instances.size > 0 && <UsageCharts range="1d" />}
      {isLoaded && (
        <Panel title={text.lastEvents}>
          <EventList />
        </Panel>
      )}
    </Page>
  );
}

function NoConcern({ isLoaded, isNew }: { readonly isLoaded: boolean; readonly isNew: boolean }) {
  if (!isLoaded) return <Empty title={text.loading} />;
  if (!isNew) return <Empty title={text.nothing} hint={text.nothingHint} />;
  const link = ['configurations', text.toConfigurations] as const;
  return <Empty title={text.noConfigurations} hint={text.noConfigurationsHint} link={link} />;
}
