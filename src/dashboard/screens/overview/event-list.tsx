/** The latest events of the cluster, the newest first, each with a link to what it is about. */
import type { EventKind, ShownEvent } from '../../../model/event.js';
import { Empty } from '../../parts/notes.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { hrefOf } from '../../router/place.js';
import { useEntries } from '../../services/services.js';
import { text } from './text.js';

const MOST = 12;
const BAD: ReadonlySet<EventKind> = new Set(['crashed', 'failed', 'waiting', 'lost', 'file']);
const GOOD: ReadonlySet<EventKind> = new Set(['up', 'finished']);
const BUSY: ReadonlySet<EventKind> = new Set(['made', 'moved', 'replaced', 'rollout', 'added', 'changed']);

export function EventList() {
  const events = [...useEntries('events').values()].sort((a, b) => b.until - a.until).slice(0, MOST);
  if (events.length === 0) return <Empty title={text.noEvents} hint={text.noEventsHint} />;
  return (
    <ul class="events">
      {events.map((event) => (
        <li key={event.id} class="event">
          <Badge tone={toneOf(event.kind)} label={text.events[event.kind]} />
          <div class="event-words">
            <a href={hrefOf(placeOf(event))}>{event.text}</a>
          </div>
          <span class="quiet">
            <Time at={event.until} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function toneOf(kind: EventKind): Tone {
  if (BAD.has(kind)) return 'bad';
  if (GOOD.has(kind)) return 'good';
  return BUSY.has(kind) ? 'busy' : 'still';
}

/** The place of the only instance of an event, else of its configuration, else of the nodes. */
function placeOf({ kind, instances, configuration }: ShownEvent): string[] {
  const [id] = instances;
  if (id !== undefined && instances.length === 1 && kind !== 'removed') return ['instances', id];
  return configuration === null ? ['nodes'] : ['configurations', configuration];
}
