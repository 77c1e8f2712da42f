/** The join tokens: the purpose of each, whether it can still be used, and when it ends. */
import { useSignal } from '@preact/signals';
import type { JoinToken } from '../../../../operations/join-tokens.js';
import { apiPath } from '../../../api/api-client.js';
import { Button } from '../../../parts/button.js';
import { Confirm } from '../../../parts/confirm.js';
import { Empty } from '../../../parts/empty.js';
import { Failure } from '../../../parts/failure.js';
import { Badge } from '../../../parts/state-badge.js';
import { Table, type TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import { useServices } from '../../../services/services.js';
import { useAsked } from '../../../services/use-live.js';
import { text } from '../text.js';
import { type TokenState, tokenState } from './token-state.js';

const TONES = { usable: 'good', used: 'still', expired: 'still' } as const;

const COLUMNS: readonly TableColumn<JoinToken>[] = [
  { id: 'label', label: text.label, cell: ({ label }) => <bdi>{label ?? text.unlabelled}</bdi> },
  { id: 'id', label: text.token, cell: ({ id }) => <span class="mono">{id}</span> },
  { id: 'state', label: text.state, cell: (token) => <State state={tokenState(token)} /> },
  { id: 'uses', label: text.joinedBy, cell: ({ uses, maxUses }) => text.usesOf(uses, maxUses) },
  { id: 'ends', label: text.ends, cell: ({ expiresAt }) => <Time at={expiresAt} /> },
  { id: 'created', label: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
];

function State({ state }: { readonly state: TokenState }) {
  return <Badge tone={TONES[state]} label={text.tokenStates[state]} />;
}

/** `round` changes when a token was made. */
export function TokensTab({ round }: { readonly round: number }) {
  const { api, session, toasts } = useServices();
  const revoked = useSignal<JoinToken | null>(null);
  const asked = useAsked((one, signal) => one.get<JoinToken[]>('/cluster/tokens', { signal }), [round]);
  const { value, error } = asked.value;
  const revoke = async (id: string): Promise<void> => {
    await api.delete(apiPath('cluster', 'tokens', id));
    toasts.done(text.revoked);
    asked.again();
  };
  const actions = (token: JoinToken) => (
    <Button
      onPress={() => {
        revoked.value = token;
      }}
    >
      {text.revoke}
    </Button>
  );
  return (
    <>
      <p class="quiet">{text.tokensExplain}</p>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {value !== undefined && (
        <div class="panel">
          {value.length === 0 ? (
            <Empty title={text.noTokens} hint={text.noTokensHint} />
          ) : (
            <Table
              label={text.tokens}
              columns={COLUMNS}
              rows={value}
              keyOf={({ id }) => id}
              actions={session.can('ALL') ? actions : undefined}
            />
          )}
        </div>
      )}
      {revoked.value !== null && (
        <Confirm
          title={text.revokeTitle}
          explanation={text.revokeExplain}
          names={[[revoked.value.id, revoked.value.label ?? text.unlabelled].join(' · ')]}
          action={text.revoke}
          isDanger
          onConfirm={() => revoke(revoked.value?.id ?? '')}
          onClose={() => {
            revoked.value = null;
          }}
        />
      )}
    </>
  );
}
