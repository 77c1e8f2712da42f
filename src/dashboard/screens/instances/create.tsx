/** Makes one more instance of a configuration. */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../model/instance.js';
import { Button, Submit } from '../../parts/button.js';
import { Dialog } from '../../parts/dialog.js';
import { Field, Form } from '../../parts/form.js';
import { text as parts } from '../../parts/text.js';
import { hrefOf } from '../../router/place.js';
import { useServices } from '../../services/services.js';
import { useEntries } from '../../services/use-live.js';
import { text } from './text.js';

export function CreateButton() {
  const isOpen = useSignal(false);
  const set = (value: boolean) => (): void => {
    isOpen.value = value;
  };
  return (
    <>
      <Button kind="main" onPress={set(true)}>
        {text.create}
      </Button>
      {isOpen.value && <CreateDialog onClose={set(false)} />}
    </>
  );
}

function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { api, toasts } = useServices();
  const names = [...useEntries('configurations').keys()].sort();
  const chosen = useSignal('');
  const problem = useSignal<unknown>(null);
  const isBusy = useSignal(false);
  const configurationName = chosen.value === '' ? (names[0] ?? '') : chosen.value;
  const create = async (): Promise<void> => {
    isBusy.value = true;
    try {
      const { id } = await api.post<InstanceInfo>('/instances', { body: { configurationName } });
      toasts.done(text.created(id));
      onClose();
      location.hash = hrefOf(['instances', id]);
    } catch (error) {
      problem.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={text.createTitle} onClose={onClose}>
      <Form
        problem={problem.value}
        onSubmit={() => void create()}
        foot={
          <>
            <Button onPress={onClose}>{parts.cancel}</Button>
            <Submit isBusy={isBusy.value} isDisabled={names.length === 0}>
              {text.create}
            </Submit>
          </>
        }
      >
        <Field label={text.createIn} hint={text.createHint}>
          {(ids) => (
            <select
              {...ids}
              class="input"
              value={configurationName}
              onChange={(event) => {
                chosen.value = event.currentTarget.value;
              }}
            >
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
