/** The configurations that use a template, and the progress of the nodes that fetch it ahead of need. */
import { useSignal } from '@preact/signals';
import type { BegunSync } from '../../../api/routes/template-routes.js';
import type { ClusterSyncReport } from '../../../model/template.js';
import { ifThere } from '../../api/api-client.js';
import { Button } from '../../parts/button.js';
import { Empty, Failure } from '../../parts/notes.js';
import { Panel } from '../../parts/page.js';
import { Badge, type Tone } from '../../parts/state-badge.js';
import { Time } from '../../parts/time.js';
import { hrefOf } from '../../router/place.js';
import { useAsked, useEntries, useServices } from '../../services/services.js';
import type { TemplateName } from './templates-screen.js';
import { text } from './text.js';
import { usersOf } from './tree.js';

const TONES: Readonly<Record<ClusterSyncReport['nodes'][number]['state'], Tone>> = {
  waiting: 'still',
  fetching: 'busy',
  done: 'good',
  failed: 'bad',
};

export function UseTab({ template }: { readonly template: TemplateName }) {
  const configurations = [...useEntries('configurations').values()].map((one) => one.configuration);
  const users = usersOf(template, configurations);
  return (
    <div class="columns">
      <Panel title={text.usedBy} about={users.length}>
        {users.length === 0 ? (
          <Empty title={text.usedByNone} hint={text.usedByNoneHint} />
        ) : (
          <ul class="panel-text">
            {users.map((name) => (
              <li key={name}>
                <a href={hrefOf(['configurations', name])}>{name}</a>
              </li>
            ))}
          </ul>
        )}
      </Panel>
      <Nodes template={template} />
    </div>
  );
}

function Nodes({ template: { group, name } }: { readonly template: TemplateName }) {
  const { api, session, toasts, clock } = useServices();
  const isOver = useSignal(true);
  // Ask every second while a sync runs, and not after its end.
  const round = isOver.value ? 0 : Math.floor(clock.value / 1000);
  const asked = useAsked(
    async (server, signal) => {
      // Null: no sync has begun since the master started.
      const sync = await ifThere(server.get<ClusterSyncReport>('/templates/sync', { signal }));
      isOver.value = sync === null || sync.isOver;
      return sync;
    },
    [round],
  );
  const send = async (): Promise<void> => {
    const body = { pattern: `${group}/${name}` };
    const answer = await toasts.run(api.post<BegunSync>('/templates/sync', { body }), ({ nodes }) =>
      text.sent(nodes.length),
    );
    if (answer !== undefined) asked.again();
  };
  const { value, error } = asked.value;
  return (
    <Panel title={text.nodes}>
      <div class="panel-text">
        <p class="quiet">{text.nodesHint}</p>
        {session.can('CONFIGURE') && (
          <div>
            <Button onPress={() => void send()}>{text.send}</Button>
          </div>
        )}
        {error !== null && <Failure error={error} onRetry={asked.again} />}
        {value === null && <p>{text.noSync}</p>}
        {value != null && <Sync sync={value} />}
      </div>
    </Panel>
  );
}

function Sync({ sync: { pattern, at, nodes, leftOut } }: { readonly sync: ClusterSyncReport }) {
  return (
    <>
      <p>
        {text.lastSync(pattern)}, <Time at={at} />
      </p>
      {leftOut.length > 0 && (
        <p>
          {text.leftOut}: {leftOut.join(', ')}
        </p>
      )}
      <ul class="template-sync d-grid gap-2">
        {nodes.map(({ nodeId, state, files, bytes, problems }) => (
          <li key={nodeId}>
            <strong>{nodeId}</strong>
            <Badge tone={TONES[state]} label={text.syncStates[state]} />
            <span class="quiet">{text.gotOf(files, bytes)}</span>
            {problems.map((problem) => (
              <p key={problem}>{problem}</p>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}
