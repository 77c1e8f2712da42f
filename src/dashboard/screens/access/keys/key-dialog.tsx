/** A dialog that makes a key, and shows its token once. */
import { useSignal } from '@preact/signals';
import type { CreatedKey } from '../../../../api/routes/key-routes.js';
import { ShownOnce } from '../../../parts/copy-button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice, Form, TextInput } from '../../../parts/form.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { type KeyForm, keyPayload, labelProblem, SCOPES } from './key-form.js';

interface KeyDialogProps {
  readonly onMade: () => void;
  readonly onClose: () => void;
}

export function KeyDialog({ onMade, onClose }: KeyDialogProps) {
  const { api } = useServices();
  const made = useSignal<CreatedKey | null>(null);
  const label = useSignal('');
  const scope = useSignal<KeyForm['scope']>('READ');
  const configurations = useSignal('');
  const expires = useSignal('never');
  const from = useSignal('');
  const fault = labelProblem({ label: label.value });
  const make = async (): Promise<void> => {
    const body = keyPayload({
      label: label.value,
      scope: scope.value,
      configurations: configurations.value,
      expires: expires.value,
      from: from.value,
    });
    made.value = await api.post<CreatedKey>('/keys', { body });
    onMade();
  };
  const { value: key } = made;
  return (
    <Dialog title={key === null ? text.makeTitle : text.madeTitle(key.label)} onClose={onClose}>
      {key === null ? (
        <Form action={text.makeDo} isFaulty={fault !== null} onSubmit={make} onClose={onClose}>
          <TextInput label={text.label} hint={text.labelHint} fault={fault} value={label} hasFocus />
          <Choice
            label={text.scope}
            hint={text.scopeHint[scope.value]}
            value={scope}
            options={SCOPES.map((value) => ({ value, label: value }))}
          />
          <TextInput
            label={text.configurations}
            hint={text.configurationsHint}
            value={configurations}
            isMono
          />
          <Choice label={text.expires} value={expires} options={text.expiries} />
          <TextInput label={text.from} hint={text.fromHint} value={from} isMono />
        </Form>
      ) : (
        <ShownOnce explain={text.madeExplain} value={key.token} onClose={onClose} />
      )}
    </Dialog>
  );
}
