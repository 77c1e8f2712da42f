/** Makes a join token, shows the command for the new machine once, and says when a node has joined. */
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { CreatedJoinToken } from '../../../../api/routes/join-token-routes.js';
import { isLoopback, parseHostPort } from '../../../../model/plain/host-port.js';
import { ShownOnce } from '../../../parts/copy-button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice, Form, TextInput } from '../../../parts/form.js';
import { useEntries, useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { joinCommand } from './token-state.js';

interface JoinDialogProps {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function JoinDialog({ onMade, onClose }: JoinDialogProps) {
  const { api } = useServices();
  const made = useSignal<CreatedJoinToken | null>(null);
  const label = useSignal('');
  const uses = useSignal('1');
  const expiresIn = useSignal('86400');
  const make = async (): Promise<void> => {
    const body = {
      label: label.value.trim() === '' ? null : label.value.trim(),
      maxUses: numberOf(uses.value),
      expiresInSeconds: numberOf(expiresIn.value),
    };
    made.value = await api.post<CreatedJoinToken>('/cluster/tokens', { body });
    onMade();
  };
  return (
    <Dialog title={text.joinTitle} size={made.value === null ? 'normal' : 'wide'} onClose={onClose}>
      {made.value === null ? (
        <Form action={text.make} onSubmit={make} onClose={onClose}>
          <p>{text.joinExplain}</p>
          <TextInput label={text.label} hint={text.labelHint} value={label} hasFocus />
          <Choice label={text.uses} value={uses} options={text.usesChoices} />
          <Choice label={text.expiresIn} value={expiresIn} options={text.expiries} />
        </Form>
      ) : (
        <MadeToken token={made.value} onClose={onClose} />
      )}
    </Dialog>
  );
}

/** An empty field stands for no limit. */
const numberOf = (value: string): number | null => (value === '' ? null : Number(value));

function MadeToken({ token, onClose }: { readonly token: CreatedJoinToken; readonly onClose: () => void }) {
  const nodes = useEntries('nodes');
  const before = useMemo(() => new Set(nodes.keys()), []);
  const joined = [...nodes.keys()].filter((nodeId) => !before.has(nodeId));
  return (
    <ShownOnce explain={text.shownOnce} label={text.command} value={joinCommand(token)} onClose={onClose}>
      {isLoopback(parseHostPort(token.master)?.host ?? '') && <p class="quiet">{text.loopback}</p>}
      <p role="status">{joined.length === 0 ? text.waiting : text.joined(joined)}</p>
    </ShownOnce>
  );
}
