/** The concerns first, then the figures of the cluster, then the latest events. */
import { concernsOf } from '../../../explain/concerns.js';
import { count } from '../../parts/amounts.js';
import { Empty, Failure } from '../../parts/notes.js';
import { Page, Panel } from '../../parts/page.js';
import { hrefOf } from '../../router/place.js';
import { useAsked, useEntries, useRound, useServices, useTopic } from '../../services/services.js';
import { NOT_READ, readClusterState } from './cluster-state.js';
import { ConcernList } from './concern-list.js';
import { Figures } from './figures.js';
import './overview.css';
import type { ClusterEvent } from '../../live/recent-events.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { text } from './text.js';

export function Screen() {
  const { session } = useServices();
  const instances = useEntries('instances');
  const nodes = useEntries('nodes');
  const configurations = useEntries('health');
  const isLoaded = [useTopic('instances'), useTopic('nodes'), useTopic('health')].every(
    (topic) => topic.isLoaded.value,
  );
  const round = useRound();
  const asked = useAsked(
    (api, signal) => readClusterState(api, { isUnrestricted: session.isUnrestricted, signal }),
    [round],
  );
  const { value: state = NOT_READ, error } = asked.value;
  const concerns = concernsOf({ ...state, nodes: nodes.values(), configurations: configurations.values() });
  return (
    <Page title={text.title}>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      <Panel title={text.attention} {...(concerns.length > 0 && { about: count(concerns.length) })}>
        {concerns.length > 0 ? (
          <ConcernList concerns={concerns} />
        ) : (
          <NoConcern isLoaded={isLoaded} isNew={instances.size === 0} />
        )}
      </Panel>
      {isLoaded && <Figures />}
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

const TONES: Readonly<Record<ClusterEvent['what'], Tone>> = {
  made: 'busy',
  online: 'good',
  offline: 'bad',
  stopped: 'still',
  removed: 'still',
  connected: 'good',
  returning: 'busy',
  lost: 'bad',
};

/** The latest events, the newest first. */
function EventList() {
  const { live } = useServices();
  const events = live.events.list.value;
  if (events.length === 0) return <Empty title={text.noEvents} hint={text.noEventsHint} />;
  return (
    <ul class="events">
      {events.map((event) => (
        <li key={event.key} class="event">
          <Badge tone={TONES[event.what]} label={text.events[event.what]} />
          <div class="event-words">
            <Subject event={event} />
            {event.message !== null && <span class="quiet"> {event.message}</span>}
          </div>
          <span class="quiet">
            <Time at={event.at} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Subject({ event: { instance, node, what } }: { readonly event: ClusterEvent }) {
  if (instance === null) return <a href={hrefOf(['nodes'])}>{text.node(node ?? '')}</a>;
  const name = `${instance.configurationName} ${instance.id}`;
  return what === 'removed' ? <span>{name}</span> : <a href={hrefOf(['instances', instance.id])}>{name}</a>;
}
