/** Makes one more instance of a configuration. */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../model/instance.js';
import { FormDialog } from '../../parts/dialog.js';
import { Choice } from '../../parts/form.js';
import { useServices } from '../../services/services.js';
import { useEntries } from '../../services/use-live.js';
import { text } from './text.js';

export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const { api, router, toasts } = useServices();
  const names = [...useEntries('configurations').keys()].sort();
  const chosen = useSignal(names[0] ?? '');
  // The configurations may come after the dialog.
  if (chosen.value === '') chosen.value = names[0] ?? '';
  const create = async (): Promise<void> => {
    const body = { configurationName: chosen.value };
    const { id } = await api.post<InstanceInfo>('/instances', { body });
    toasts.done(text.created(id));
    onClose();
    router.go(['instances', id]);
  };
  return (
    <FormDialog
      title={text.createTitle}
      action={text.create}
      isDisabled={names.length === 0}
      onSubmit={create}
      onClose={onClose}
    >
      <Choice
        label={text.createIn}
        hint={text.createHint}
        value={chosen}
        options={names.map((value) => ({ value, label: value }))}
      />
    </FormDialog>
  );
}
