/** The latest events, the newest first. */
import type { ClusterEvent } from '../../live/recent-events.js';
import { Empty } from '../../parts/empty.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

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

export function EventList() {
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
