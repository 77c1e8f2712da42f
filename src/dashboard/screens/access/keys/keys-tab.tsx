/** The keys: scope, last use and end of each. A key with enough scope may make and revoke keys here. */
import { useSignal } from '@preact/signals';
import type { ListedKey } from '../../../../operations/api-keys.js';
import { apiPath } from '../../../api/api-client.js';
import { Button } from '../../../parts/button.js';
import { Confirm } from '../../../parts/confirm.js';
import { Empty } from '../../../parts/empty.js';
import { Failure } from '../../../parts/failure.js';
import { Table } from '../../../parts/table/table.js';
import { useServices } from '../../../services/services.js';
import { useAsked } from '../../../services/use-live.js';
import { text } from '../text.js';
import { keyColumns } from './key-columns.js';
import { KeyDialog } from './key-dialog.js';

export function KeysTab() {
  const { session } = useServices();
  const isMaking = useSignal(false);
  const revoked = useSignal<string | null>(null);
  const asked = useAsked((api, signal) => api.get<ListedKey[]>('/keys', { signal }), []);
  const { value, error } = asked.value;
  const mine = session.caller.value?.key ?? '';
  const canChange = session.can('ALL');
  const revoke = ({ label }: ListedKey) => (
    <Button
      onPress={() => {
        revoked.value = label;
      }}
    >
      {text.revoke}
    </Button>
  );
  return (
    <>
      <div class="access-head">
        <p class="quiet">{text.keysExplain}</p>
        {canChange && (
          <Button
            kind="main"
            onPress={() => {
              isMaking.value = true;
            }}
          >
            {text.make}
          </Button>
        )}
      </div>
      {error !== null && <Failure error={error} onRetry={asked.again} />}
      {value !== undefined && (
        <div class="panel">
          {value.length === 0 ? (
            <Empty title={text.noKeys} />
          ) : (
            <Table
              label={text.keys}
              columns={keyColumns(mine)}
              rows={value}
              keyOf={({ label }) => label}
              actions={canChange ? revoke : undefined}
            />
          )}
        </div>
      )}
      {isMaking.value && (
        <KeyDialog
          onMade={asked.again}
          onClose={() => {
            isMaking.value = false;
          }}
        />
      )}
      {revoked.value !== null && (
        <RevokeKey
          label={revoked.value}
          isMine={revoked.value === mine}
          onRevoked={asked.again}
          onClose={() => {
            revoked.value = null;
          }}
        />
      )}
    </>
  );
}

interface RevokeKeyProps {
  readonly label: string;
  readonly isMine: boolean;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeKey({ label, isMine, onRevoked, onClose }: RevokeKeyProps) {
  const { api, toasts } = useServices();
  const revoke = async (): Promise<void> => {
    await api.delete(apiPath('keys', label));
    toasts.done(text.keyRevoked(label));
    onRevoked();
  };
  return (
    <Confirm
      title={text.revokeKeyTitle}
      explanation={isMine ? `${text.revokeKeyExplain} ${text.revokeMine}` : text.revokeKeyExplain}
      names={[label]}
      action={text.revoke}
      isDanger
      onConfirm={revoke}
      onClose={onClose}
    />
  );
}
