/** The keys: scope, last use and end of each. A key with enough scope may make and revoke keys here. */
import type { ListedKey } from '../../../../api/routes/key-routes.js';
import { apiPath } from '../../../api/api-client.js';
import { Confirm } from '../../../parts/confirm.js';
import { DialogButton } from '../../../parts/dialog.js';
import { Empty } from '../../../parts/empty.js';
import { AskedTable } from '../../../parts/table/table.js';
import { useServices } from '../../../services/services.js';
import { useAsked } from '../../../services/use-live.js';
import { text } from '../text.js';
import { keyColumns } from './key-columns.js';
import { KeyDialog } from './key-dialog.js';

export function KeysTab() {
  const { api, session, toasts } = useServices();
  const asked = useAsked((one, signal) => one.get<ListedKey[]>('/keys', { signal }), []);
  const mine = session.caller.value?.key ?? '';
  const canChange = session.can('ALL');
  const revoke = async (label: string): Promise<void> => {
    await api.delete(apiPath('keys', label));
    toasts.done(text.keyRevoked(label));
    asked.again();
  };
  const actions = ({ label }: ListedKey) => (
    <DialogButton
      dialog={(onClose) => (
        <Confirm
          title={text.revokeKeyTitle}
          explanation={label === mine ? `${text.revokeKeyExplain} ${text.revokeMine}` : text.revokeKeyExplain}
          names={[label]}
          action={text.revoke}
          isDanger
          onConfirm={() => revoke(label)}
          onClose={onClose}
        />
      )}
    >
      {text.revoke}
    </DialogButton>
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
