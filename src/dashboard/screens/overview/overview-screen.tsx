/** The concerns first, then the figures of the cluster, then the latest events. */
import { count } from '../../parts/amounts.js';
import { ButtonLink } from '../../parts/button.js';
import { Empty } from '../../parts/empty.js';
import { Failure } from '../../parts/failure.js';
import { Page, Panel } from '../../parts/page.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { useAsked, useEntries, useTopic } from '../../services/use-live.js';
import { concernsOf } from './attention.js';
import { readClusterState } from './cluster-state.js';
import { ConcernList } from './concern-list.js';
import { EventList } from './event-list.js';
import { Figures } from './figures.js';
import './overview.css';
import { text } from './text.js';

/** How often the screen asks for the facts that are not in the change stream. */
const STATE_EVERY_MS = 5_000;

export function Screen() {
  const { session, clock } = useServices();
  const instances = useEntries('instances');
  const nodes = useEntries('nodes');
  const rollouts = useEntries('rollouts');
  const isLoaded = useTopic('instances').isLoaded.value && useTopic('nodes').isLoaded.value;
  const round = Math.floor(clock.value / STATE_EVERY_MS);
  const asked = useAsked(
    (api, signal) => readClusterState(api, { isUnrestricted: session.isUnrestricted, signal }),
    [round],
  );
  const { value: state, error } = asked.value;
  const concerns = concernsOf({
    state,
    instances: instances.values(),
    nodes: nodes.values(),
    rollouts: rollouts.values(),
    canOperate: session.can('OPERATE'),
  });
  const isNew = isLoaded && instances.size === 0 && concerns.length === 0;
  return (
    <Page title={text.title}>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      <Panel title={text.attention} {...(concerns.length > 0 && { about: count(concerns.length) })}>
        {concerns.length > 0 ? (
          <ConcernList concerns={concerns} />
        ) : isNew ? (
          <Empty
            title={text.noConfigurations}
            hint={text.noConfigurationsHint}
            action={<ButtonLink href={hrefOf(['configurations'])}>{text.toConfigurations}</ButtonLink>}
          />
        ) : (
          <Empty
            {...(isLoaded ? { title: text.nothing, hint: text.nothingHint } : { title: text.loading })}
          />
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
