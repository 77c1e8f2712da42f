/** A dialog that makes a key, and shows its token once. */
import { useSignal } from '@preact/signals';
import type { CreatedKey } from '../../../../operations/api-keys.js';
import { Button, Submit } from '../../../parts/button.js';
import { Dialog } from '../../../parts/dialog.js';
import { Form, TextInput } from '../../../parts/form.js';
import { Choice } from '../../../parts/forms/choice.js';
import { ShownOnce } from '../../../parts/forms/shown-once.js';
import { useSubmit } from '../../../parts/forms/use-submit.js';
import { text as parts } from '../../../parts/text.js';
import { useServices } from '../../../services/services.js';
import { text } from '../text.js';
import { type KeyForm, keyPayload, labelProblem, SCOPES } from './key-form.js';

const NEW: KeyForm = { label: '', scope: 'READ', configurations: '', expires: 'never', from: '' };

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
  const form = useSignal(NEW);
  const wasTried = useSignal(false);
  const { isBusy, problem, submit } = useSubmit(async () => {
    wasTried.value = true;
    if (labelProblem(form.value) !== null) return;
    props.onMade(await api.post<CreatedKey>('/keys', { body: keyPayload(form.value) }));
  });
  const set =
    (name: keyof KeyForm) =>
    (value: string): void => {
      form.value = { ...form.value, [name]: value };
    };
  const { label, scope, configurations, expires, from } = form.value;
  return (
    <Form
      problem={problem}
      onSubmit={submit}
      foot={
        <>
          <Button onPress={props.onClose}>{parts.cancel}</Button>
          <Submit isBusy={isBusy}>{text.makeDo}</Submit>
        </>
      }
    >
      <TextInput
        label={text.label}
        hint={text.labelHint}
        error={wasTried.value ? labelProblem(form.value) : null}
        value={label}
        onInput={set('label')}
        hasFocus
      />
      <Choice
        label={text.scope}
        hint={text.scopeHint[scope]}
        value={scope}
        options={SCOPES.map((value) => ({ value, label: value }))}
        onChange={set('scope')}
      />
      <TextInput
        label={text.configurations}
        hint={text.configurationsHint}
        value={configurations}
        onInput={set('configurations')}
        isMono
      />
      <Choice label={text.expires} value={expires} options={text.expiries} onChange={set('expires')} />
      <TextInput label={text.from} hint={text.fromHint} value={from} onInput={set('from')} isMono />
    </Form>
  );
}
