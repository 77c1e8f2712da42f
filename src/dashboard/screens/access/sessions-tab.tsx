/** The live sessions: when each was used and when it ends. The session of this tab is marked. */

import type { ListedKey } from '../../../api/routes/key-routes.js';
import type { ListedSession } from '../../../api/routes/session-routes.js';
import { apiPath } from '../../api/api-client.js';
import { ConfirmButton } from '../../parts/dialog.js';
import { Empty } from '../../parts/notes.js';
import { Badge } from '../../parts/state-badge.js';
import { AskedTable, type TableColumn } from '../../parts/table/table.js';
import { Time } from '../../parts/time.js';
import { useGot, useServices } from '../../services/services.js';
import { text } from './text.js';

/** When and from where a key or session was used last. */
export const LAST_USE = {
  label: text.lastUse,
  cell: ({ lastUsedAt: at, lastUsedFrom: from }: Pick<ListedKey, 'lastUsedAt' | 'lastUsedFrom'>) => (
    <span>
      <Time at={at} /> {from !== null && <span class="quiet">{text.usedFrom(from)}</span>}
    </span>
  ),
};

const COLUMNS: readonly TableColumn<ListedSession>[] = [
  {
    label: text.session,
    cell: ({ id, isCurrent }) => (
      <span class="inline">
        <span class="mono">{id}</span> {isCurrent && <Badge tone="good" label={text.thisOne} />}
      </span>
    ),
  },
  { label: text.key, cell: ({ key }) => key },
  { label: text.scope, cell: ({ scope }) => scope },
  LAST_USE,
  { label: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  { label: text.endsUnused, cell: ({ endsAt }) => <Time at={endsAt} /> },
];

export function SessionsTab() {
  const { api, session, toasts } = useServices();
  const asked = useGot<ListedSession[]>('/sessions', []);
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
          <ConfirmButton
            title={text.revokeSessionTitle}
            explanation={entry.isCurrent ? text.revokeThis : text.revokeSessionExplain}
            names={[`${entry.id} · ${entry.key}`]}
            action={text.revoke}
            isDanger
            onConfirm={() => revoke(entry)}
          />
        )}
      />
    </>
  );
}
