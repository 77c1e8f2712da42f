/** The live sessions: when each was used and when it ends. The session of this tab is marked. */
import type { ListedSession } from '../../../api/routes/session-routes.js';
import { apiPath } from '../../api/api-client.js';
import { Confirm } from '../../parts/confirm.js';
import { DialogButton } from '../../parts/dialog.js';
import { Empty } from '../../parts/empty.js';
import { Badge } from '../../parts/state-badge.js';
import { AskedTable, type TableColumn } from '../../parts/table/table.js';
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
      <span class="inline">
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
  const asked = useAsked((one, signal) => one.get<ListedSession[]>('/sessions', { signal }), []);
  const seesAll = session.can('ALL') && session.isUnrestricted;
  const revoke = async ({ id, isCurrent }: ListedSession): Promise<void> => {
    if (isCurrent) return await session.signOut();
    await api.delete(apiPath('sessions', id));
    toasts.done(text.sessionRevoked(id));
    asked.again();
  };
  return (
    <>
      <p class="quiet">{seesAll ? text.sessionsExplain.all : text.sessionsExplain.own}</p>
      <AskedTable
        asked={asked}
        empty={<Empty title={text.noSessions} />}
        label={text.sessions}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        actions={(entry) => (
          <DialogButton
            dialog={(onClose) => (
              <Confirm
                title={text.revokeSessionTitle}
                explanation={entry.isCurrent ? text.revokeThis : text.revokeSessionExplain}
                names={[`${entry.id} · ${entry.key}`]}
                action={text.revoke}
                isDanger
                onConfirm={() => revoke(entry)}
                onClose={onClose}
              />
            )}
          >
            {text.revoke}
          </DialogButton>
        )}
      />
    </>
  );
}
