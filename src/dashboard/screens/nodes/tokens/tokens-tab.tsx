/** The join tokens: the purpose of each, whether it can still be used, and when it ends. */
import type { JoinToken } from '../../../../api/routes/join-token-routes.js';
import { apiPath } from '../../../api/api-client.js';
import { ConfirmButton } from '../../../parts/dialog.js';
import { Empty } from '../../../parts/notes.js';
import { Badge } from '../../../parts/state-badge.js';
import { AskedTable, type TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import { useGot, useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { tokenState } from './token-state.js';

const COLUMNS: readonly TableColumn<JoinToken>[] = [
  { label: text.label, cell: ({ label }) => <bdi>{label ?? text.unlabelled}</bdi> },
  { label: text.token, cell: ({ id }) => <span class="mono">{id}</span> },
  {
    label: text.state,
    cell: (token) => {
      const state = tokenState(token);
      return <Badge tone={state === 'usable' ? 'good' : 'still'} label={text.tokenStates[state]} />;
    },
  },
  { label: text.joinedBy, cell: ({ uses, maxUses }) => text.usesOf(uses, maxUses) },
  { label: text.ends, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  { label: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

/** `round`: changes when a token was made, so that the list is asked for again. */
export function TokensTab({ round }: { readonly round: number }) {
  const { api, session, toasts } = useServices();
  const asked = useGot<JoinToken[]>('/cluster/tokens', [round]);
  const revoke = async (id: string): Promise<void> => {
    await api.delete(apiPath('cluster', 'tokens', id));
    toasts.done(text.revoked);
    asked.again();
  };
  const actions = ({ id, label }: JoinToken) => (
    <ConfirmButton
      title={text.revokeTitle}
      explanation={text.revokeExplain}
      names={[`${id} · ${label ?? text.unlabelled}`]}
      action={text.revoke}
      isDanger
      onConfirm={() => revoke(id)}
    />
  );
  return (
    <>
      <p class="quiet">{text.tokensExplain}</p>
      <AskedTable
        asked={asked}
        empty={<Empty title={text.noTokens} hint={text.noTokensHint} />}
        label={text.tokens}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        actions={session.can('ALL') ? actions : undefined}
      />
    </>
  );
}
