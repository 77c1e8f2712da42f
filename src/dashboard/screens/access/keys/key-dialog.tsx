/** A dialog that makes a key, and shows its token once. */
import { useSignal } from '@preact/signals';
import type { CreatedKey } from '../../../../api/routes/key-routes.js';
import { Dialog } from '../../../parts/dialog.js';
import { Choice, Form, TextInput } from '../../../parts/form.js';
import { ShownOnce } from '../../../parts/shown-once.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { type KeyForm, keyPayload, labelProblem, SCOPES } from './key-form.js';

export function KeyDialog({
  onMade,
  onClose,
}: {
  readonly onMade: () => void;
  readonly onClose: () => void;
}) {
  const made = useSignal<CreatedKey | null>(null);
  const { value } = made;
  return (
    <Dialog title={value === null ? text.makeTitle : text.madeTitle(value.label)} onClose={onClose}>
      {value === null ? (
        <NewKey
          onMade={(key) => {
            made.value = key;
            onMade();
          }}
          onClose={onClose}
        />
      ) : (
        <ShownOnce explain={text.madeExplain} value={value.token} onClose={onClose} />
      )}
    </Dialog>
  );
}

function NewKey(props: { readonly onMade: (key: CreatedKey) => void; readonly onClose: () => void }) {
  const { api } = useServices();
  const label = useSignal('');
  const scope = useSignal<KeyForm['scope']>('READ');
  const configurations = useSignal('');
  const expires = useSignal('never');
  const from = useSignal('');
  const wasTried = useSignal(false);
  const fault = labelProblem({ label: label.value });
  const make = async (): Promise<void> => {
    wasTried.value = true;
    if (fault !== null) return;
    const body = keyPayload({
      label: label.value,
      scope: scope.value,
      configurations: configurations.value,
      expires: expires.value,
      from: from.value,
    });
    props.onMade(await api.post<CreatedKey>('/keys', { body }));
  };
  return (
    <Form action={text.makeDo} onSubmit={make} onClose={props.onClose}>
      <TextInput
        label={text.label}
        hint={text.labelHint}
        error={wasTried.value ? fault : null}
        value={label}
        hasFocus
      />
      <Choice
        label={text.scope}
        hint={text.scopeHint[scope.value]}
        value={scope}
        options={SCOPES.map((value) => ({ value, label: value }))}
      />
      <TextInput label={text.configurations} hint={text.configurationsHint} value={configurations} isMono />
      <Choice label={text.expires} value={expires} options={text.expiries} />
      <TextInput label={text.from} hint={text.fromHint} value={from} isMono />
    </Form>
  );
}
