/** A dialog that asks for the name of a new configuration and for its first content, and leads to the editor. */
import { useSignal } from '@preact/signals';
import { Button, Submit } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field, Form, TextInput } from '../../parts/form.js';
import { text as parts } from '../../parts/text.js';
import { useServices } from '../../services/services.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const COPY = 'copy:';

interface CreateProps {
  readonly rows: readonly ConfigurationRow[];
  readonly onClose: () => void;
}

export function CreateDialog({ rows, onClose }: CreateProps) {
  const { router } = useServices();
  const name = useSignal('');
  const from = useSignal('game');
  const problem = useSignal<string | null>(null);
  const go = (): void => {
    if (!NAME.test(name.value)) problem.value = text.createNameWrong;
    else if (rows.some((row) => row.name === name.value && row.entry !== null))
      problem.value = text.createNameTaken;
    else {
      onClose();
      router.go(['configurations', name.value, 'edit'], startOf(from.value));
    }
  };
  return (
    <Dialog title={text.create} onClose={onClose}>
      <Form
        onSubmit={go}
        foot={
          <>
            <Button onPress={onClose}>{parts.cancel}</Button>
            <Submit>{text.createGo}</Submit>
          </>
        }
      >
        <TextInput
          label={text.createName}
          hint={text.createNameHint}
          error={problem.value}
          value={name.value}
          isMono
          hasFocus
          onInput={(value) => {
            name.value = value;
            problem.value = null;
          }}
        />
        <Field label={text.createFrom} hint={text.createHint}>
          {(ids) => (
            <select
              {...ids}
              class="input"
              value={from.value}
              onChange={(event) => {
                from.value = event.currentTarget.value;
              }}
            >
              {Object.entries(text.examples).map(([key, label]) => (
                <option key={key} value={key}>
                  {label}
                </option>
              ))}
              {rows
                .filter(({ entry }) => entry !== null)
                .map((row) => (
                  <option key={COPY + row.name} value={COPY + row.name}>
                    {text.copyOf(row.name)}
                  </option>
                ))}
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  );
}

function startOf(choice: string): Record<string, string> {
  return choice.startsWith(COPY) ? { copy: choice.slice(COPY.length) } : { example: choice };
}
