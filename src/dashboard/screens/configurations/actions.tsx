/** The actions Scale and Delete. Each says what it will do before it does it. */
import { useSignal } from '@preact/signals';
import type { ConfigurationContent } from '../../../operations/configuration-content.js';
import type { Topics } from '../../../watch-client/topics.js';
import { apiPath } from '../../api/api-client.js';
import { Button, Submit } from '../../parts/button.js';
import { Confirm } from '../../parts/confirm.js';
import { Dialog } from '../../parts/dialog.js';
import { Form, TextInput } from '../../parts/form.js';
import { text as parts } from '../../parts/text.js';
import { useServices } from '../../services/services.js';
import { useEntries } from '../../services/use-live.js';
import type { ConfigurationRow } from './rows.js';
import { text } from './text.js';

interface ActionsProps {
  readonly row: ConfigurationRow;
  readonly entry: Topics['configurations'];
}

const MOST_NAMES = 200;
const MOST_INSTANCES = 100_000;

export function Actions(props: ActionsProps) {
  const { session } = useServices();
  const open = useSignal<'scale' | 'remove' | null>(null);
  const show = (what: typeof open.value) => (): void => {
    open.value = what;
  };
  if (!session.can('ALL')) return null;
  return (
    <>
      <Button onPress={show('scale')}>{text.scale}</Button>
      <Button onPress={show('remove')}>{text.remove}</Button>
      {open.value === 'scale' && <Scale {...props} onClose={show(null)} />}
      {open.value === 'remove' && <Remove {...props} onClose={show(null)} />}
    </>
  );
}

type DialogProps = ActionsProps & { readonly onClose: () => void };

function Scale({ entry: { name, configuration }, onClose }: DialogProps) {
  const { api, toasts } = useServices();
  const wanted = useSignal(String(configuration.minimumServiceCount));
  const problem = useSignal<unknown>(null);
  const fault = useSignal<string | null>(null);
  const isBusy = useSignal(false);
  const scale = async (): Promise<void> => {
    const count = Number(wanted.value);
    fault.value = faultOf(wanted.value, configuration.maximumServiceCount);
    if (fault.value !== null) return;
    isBusy.value = true;
    try {
      const path = apiPath('configurations', name);
      const { content, revision } = await api.get<ConfigurationContent>(`${path}/file`);
      const body = { ...content, minimumServiceCount: count };
      await api.put(path, { body, headers: { 'if-match': `"${revision}"` } });
      toasts.done(text.scaled(name, count));
      onClose();
    } catch (error) {
      problem.value = error;
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <Dialog title={text.scaleTitle(name)} onClose={onClose}>
      <Form
        problem={problem.value}
        onSubmit={() => void scale()}
        foot={
          <>
            <Button onPress={onClose}>{parts.cancel}</Button>
            <Submit isBusy={isBusy.value}>{text.scale}</Submit>
          </>
        }
      >
        <TextInput
          label={text.scaleLabel}
          hint={text.scaleHint}
          error={fault.value}
          inputMode="numeric"
          hasFocus
          value={wanted.value}
          onInput={(value) => {
            wanted.value = value;
            fault.value = null;
          }}
        />
      </Form>
    </Dialog>
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
  const remove = async (): Promise<void> => {
    await api.delete(apiPath('configurations', name), { headers: { 'if-match': `"${revision}"` } });
    toasts.done(text.removed(name));
    router.go(['configurations']);
  };
  return (
    <Confirm
      title={text.removeTitle(name)}
      explanation={text.removeExplanation(own.length)}
      names={namesOf(ids, own.length, file)}
      action={text.remove}
      isDanger
      onConfirm={remove}
      onClose={onClose}
    />
  );
}

/** The names of a delete dialog: the instances, or the file when there are none. */
function namesOf(ids: readonly string[], all: number, file: string): readonly string[] {
  if (all === 0) return [file];
  return all > ids.length ? [...ids, text.removedMore(all - ids.length)] : ids;
}
