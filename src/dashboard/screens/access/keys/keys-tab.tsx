/** The keys: scope, last use and end of each. A key with enough scope may make and revoke keys here. */
import type { ListedKey } from '../../../../api/routes/key-routes.js';
import { apiPath } from '../../../api/api-client.js';
import { ConfirmButton, DialogButton } from '../../../parts/dialog.js';
import { Empty } from '../../../parts/notes.js';
import { Badge } from '../../../parts/state-badge.js';
import { AskedTable, type TableColumn } from '../../../parts/table/table.js';
import { Time } from '../../../parts/time.js';
import { useGot, useServices } from '../../../services/services.js';
import { LAST_USE } from '../sessions-tab.js';
import { text } from '../text.js';
import { KeyDialog } from './key-dialog.js';

export function KeysTab() {
  const { api, session, toasts } = useServices();
  const asked = useGot<ListedKey[]>('/keys', []);
  const mine = session.caller.value?.key ?? '';
  const canChange = session.can('ALL');
  const revoke = async (label: string): Promise<void> => {
    await api.delete(apiPath('keys', label));
    toasts.done(text.keyRevoked(label));
    asked.again();
  };
  const actions = ({ label }: ListedKey) => (
    <ConfirmButton
      title={text.revokeKeyTitle}
      explanation={label === mine ? `${text.revokeKeyExplain} ${text.revokeMine}` : text.revokeKeyExplain}
      names={[label]}
      action={text.revoke}
      isDanger
      onConfirm={() => revoke(label)}
    />
  );
  return (
    <>
      <div class="bar">
        <p class="quiet">{text.keysExplain}</p>
        {canChange && (
          <div class="bar-end">
            <DialogButton
              kind="main"
              dialog={(onClose) => <KeyDialog onMade={asked.again} onClose={onClose} />}
            >
              {text.make}
            </DialogButton>
          </div>
        )}
      </div>
      <AskedTable
        asked={asked}
        empty={<Empty title={text.noKeys} />}
        label={text.keys}
        columns={keyColumns(mine)}
        keyOf={({ label }) => label}
        actions={canChange ? actions : undefined}
      />
    </>
  );
}

/** The columns of the table. `mine`: the label of the key that is signed in. */
function keyColumns(mine: string): readonly TableColumn<ListedKey>[] {
  return [
    {
      label: text.label,
      cell: ({ label }) => (
        <span class="inline">
          <strong>{label}</strong> {label === mine && <Badge tone="good" label={text.mine} />}
        </span>
      ),
    },
    { label: text.scope, cell: ({ scope }) => scope },
    { label: text.configurations, cell: ({ configurations }) => listed(configurations, text.all) },
    { label: text.from, cell: ({ from }) => listed(from, text.anywhere) },
    {
      label: text.ends,
      cell: ({ expiresAt, isExpired }) => (
        <span class="inline">
          {isExpired && <Badge tone="still" label={text.expired} />} <Time at={expiresAt} />
        </span>
      ),
    },
    LAST_USE,
    { label: text.token, cell: ({ mask }) => <span class="mono">{mask}</span> },
    { label: text.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ];
}

function listed(values: readonly string[] | null, none: string) {
  return values === null ? <span class="quiet">{none}</span> : values.join(', ');
}
