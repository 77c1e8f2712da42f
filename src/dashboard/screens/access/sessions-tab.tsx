/** The live sessions: when each was used and when it ends. The session of this tab is marked. */
import { useSignal } from '@preact/signals';
import type { ListedSession } from '../../../operations/sessions.js';
import { apiPath } from '../../api/api-client.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Empty } from '../../parts/empty.js';
import { Failure } from '../../parts/failure.js';
import { Badge } from '../../parts/state-badge.js';
import { Table, type TableColumn } from '../../parts/table/table.js';
import { Time } from '../../parts/time.js';
import { useServices } from '../../services/services.js';
import { useAsked } from '../../services/use-live.js';
import { LastUse } from './last-use.js';
import { text } from './text.js';

const COLUMNS: readonly TableColumn<ListedSession>[] = [
  {
    id: 'id',
    label: text.session,
    cell: ({ id, isCurrent }) => (
      <span class="access-name">
        <span class="mono">{id}</span> {isCurrent && <Badge tone="good" label={text.thisOne} />}
      </span>
    ),
  },
  { id: 'key', label: text.key, cell: ({ key }) => key },
  { id: 'scope', label: text.scope, cell: ({ scope }) => scope },
  {
    id: 'used',
    label: text.lastUse,
    cell: ({ lastUsedAt, lastUsedFrom }) => <LastUse at={lastUsedAt} from={lastUsedFrom} />,
  },
  { id: 'created', label: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { id: 'ends', label: text.endsUnused, cell: ({ endsAt }) => <Time at={endsAt} /> },
];

export function SessionsTab() {
  const { api, session, toasts } = useServices();
  const revoked = useSignal<ListedSession | null>(null);
  const asked = useAsked((one, signal) => one.get<ListedSession[]>('/sessions', { signal }), []);
  const { value, error } = asked.value;
  const seesAll = session.can('ALL') && session.isUnrestricted;
  const revoke = async ({ id, isCurrent }: ListedSession): Promise<void> => {
    if (isCurrent) return await session.signOut();
    await api.delete(apiPath('sessions', id));
    toasts.done(text.sessionRevoked(id));
    asked.again();
  };
  const { value: chosen } = revoked;
  return (
    <>
      <p class="quiet">{seesAll ? text.sessionsExplain.all : text.sessionsExplain.own}</p>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {value !== undefined && (
        <div class="panel">
          {value.length === 0 ? (
            <Empty title={text.noSessions} />
          ) : (
            <Table
              label={text.sessions}
              columns={COLUMNS}
              rows={value}
              keyOf={({ id }) => id}
              actions={(entry) => (
                <Button
                  onPress={() => {
                    revoked.value = entry;
                  }}
                >
                  {text.revoke}
                </Button>
              )}
            />
          )}
        </div>
      )}
      {chosen !== null && (
        <Confirm
          title={text.revokeSessionTitle}
          explanation={chosen.isCurrent ? text.revokeThis : text.revokeSessionExplain}
          names={[`${chosen.id} · ${chosen.key}`]}
          action={text.revoke}
          isDanger
          onConfirm={() => revoke(chosen)}
          onClose={() => {
            revoked.value = null;
          }}
        />
      )}
    </>
  );
}
