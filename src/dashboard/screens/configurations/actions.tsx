/** The actions Scale and Delete. Each says what it will do before it does it. */
import { useSignal } from '@preact/signals';
import { surplusOf } from '../../../model/plain/surplus.js';
import type { ConfigurationContent } from '../../../operations/configuration-content.js';
import type { Topics } from '../../../watch-client/topics.js';
import { apiPath } from '../../api/api-client.js';
import { Confirm, DialogButton, FormDialog } from '../../parts/dialog.js';
import { TextInput } from '../../parts/form.js';
import { useEntries, useServices } from '../../services/services.js';
import { text } from './text.js';

interface ActionsProps {
  readonly entry: Topics['configurations'];
}

const MOST_NAMES = 200;
const MOST_INSTANCES = 100_000;

export function Actions(props: ActionsProps) {
  const { session } = useServices();
  if (!session.can('CONFIGURE')) return null;
  return (
    <>
      <DialogButton dialog={(onClose) => <Scale {...props} onClose={onClose} />}>{text.scale}</DialogButton>
      <DialogButton kind="risky" dialog={(onClose) => <Remove {...props} onClose={onClose} />}>
        {text.remove}
      </DialogButton>
    </>
  );
}

type DialogProps = ActionsProps & { readonly onClose: () => void };

function Scale({ entry: { name, configuration }, onClose }: DialogProps) {
  const { api, session, toasts } = useServices();
  const wanted = useSignal(String(configuration.minimumServiceCount));
  const fault = faultOf(wanted.value, configuration.maximumServiceCount);
  const doesEnd = useSignal(false);
  const own = [...useEntries('instances').values()].filter(
    ({ configurationName, state }) => configurationName === name && state !== 'STOPPED',
  );
  const surplus = fault === null ? surplusOf(own, Number(wanted.value)) : [];
  const scale = async (): Promise<void> => {
    const count = Number(wanted.value);
    const path = apiPath('configurations', name);
    const { content, revision } = await api.get<ConfigurationContent>(`${path}/file`);
    const body = { ...content, minimumServiceCount: count };
    await api.put(path, { body, headers: { 'if-match': `"${revision}"` } });
    if (doesEnd.value) for (const { id } of surplus) await api.delete(apiPath('instances', id));
    toasts.done(text.scaled(name, count));
    onClose();
  };
  return (
    <FormDialog
      title={text.scaleTitle(name)}
      action={text.scale}
      isFaulty={fault !== null}
      onSubmit={scale}
      onClose={onClose}
    >
      <TextInput
        label={text.scaleLabel}
        hint={text.scaleHint}
        fault={fault}
        inputMode="numeric"
        hasFocus
        value={wanted}
      />
      {surplus.length > 0 && session.can('OPERATE') && (
        <label class="inline">
          <input
            type="checkbox"
            checked={doesEnd.value}
            onChange={({ currentTarget }) => {
              doesEnd.value = currentTarget.checked;
            }}
          />
          {text.endSurplus(surplus.length)}
        </label>
      )}
    </FormDialog>
  );
}

function faultOf(wanted: string, most: number | undefined): string | null {
  const count = Number(wanted);
  if (!/^\d+$/.test(wanted.trim()) || count > MOST_INSTANCES) return text.scaleWrong;
  return most !== undefined && count > most ? text.scaleOver(most) : null;
}

function Remove({ entry: { name, revision, file }, onClose }: DialogProps) {
  const { api, toasts, router } = useServices();
  const own = [...useEntries('instances').values()].filter((one) => one.configurationName === name);
  const ids = own.slice(0, MOST_NAMES).map(({ id }) => id);
  const more = own.length > MOST_NAMES ? [text.removedMore(own.length - MOST_NAMES)] : [];
  const remove = async (): Promise<void> => {
    await api.delete(apiPath('configurations', name), { headers: { 'if-match': `"${revision}"` } });
    toasts.done(text.removed(name));
    router.go(['configurations']);
  };
  return (
    <Confirm
      title={text.removeTitle(name)}
      explanation={text.removeExplanation(own.length)}
      names={own.length === 0 ? [file] : [...ids, ...more]}
      action={text.remove}
      isDanger
      onConfirm={remove}
      onClose={onClose}
    />
  );
}
