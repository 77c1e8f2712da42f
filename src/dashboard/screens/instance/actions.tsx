/** Start, stop, restart, delete and signals of this instance: as buttons, and as a menu where there is little room. */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../model/instance.js';
import type { SendableSignal } from '../../../model/plain/sendable-signals.js';
import { apiPath } from '../../api/api-client.js';
import { Button, putting } from '../../parts/button.js';
import { Icon } from '../../parts/icon.js';
import { AskedDialog } from '../../parts/instances/asked-dialog.js';
import { Menu } from '../../parts/menu.js';
import { INSTANCE_ACTIONS, type InstanceAction, type PendingActions } from '../../parts/pending-actions.js';
import { text as parts } from '../../parts/text.js';
import { usePhone } from '../../parts/use-phone.js';
import { useServices } from '../../services/services.js';
import { text } from './text.js';

/** The signals that servers have uses for besides their end. */
const OFFERED_SIGNALS: readonly SendableSignal[] = ['SIGHUP', 'SIGUSR1', 'SIGUSR2'];

const KINDS = { start: 'main', stop: 'normal', restart: 'normal', delete: 'risky' } as const;

interface ActionsProps {
  readonly instance: InstanceInfo;
  readonly pending: PendingActions;
}

export function Actions({ instance, pending }: ActionsProps) {
  const { api, toasts } = useServices();
  const isPhone = usePhone().value;
  const asked = useSignal<InstanceAction | null>(null);
  const { id, state } = instance;
  const press = (action: InstanceAction): void => {
    // A start needs no question, because it destroys nothing.
    if (action !== 'start') asked.value = action;
    else void toasts.run(pending.perform(api, action, instance), () => parts.done(action, text.named(id)));
  };
  const send = async (signal: SendableSignal): Promise<void> => {
    await api.post(apiPath('instances', id, 'signal'), { body: { signal } });
    toasts.done(text.sent(signal, id));
  };
  const signals = OFFERED_SIGNALS.map((signal) => ({
    label: text.send(signal),
    onPress: () => void toasts.run(send(signal)),
  }));
  const isPossible = (action: InstanceAction): boolean => {
    if (action === 'start') return state === 'STOPPED' || state === 'OFFLINE';
    return action === 'delete' || state !== 'STOPPED';
  };
  const possible = INSTANCE_ACTIONS.filter(isPossible);
  return (
    <>
      {isPhone ? (
        <Menu
          label={text.actions}
          items={[
            ...possible.map((action) => ({
              label: parts.action[action],
              isDanger: action === 'delete',
              onPress: () => press(action),
            })),
            ...(state === 'STOPPED' ? [] : signals),
          ]}
        />
      ) : (
        <>
          {state !== 'STOPPED' && <Menu label={text.signal} items={signals} />}
          {possible.map((action) => (
            <Button key={action} kind={KINDS[action]} onPress={() => press(action)}>
              <Icon name={action} />
              {parts.action[action]}
            </Button>
          ))}
        </>
      )}
      {asked.value !== null && (
        <AskedDialog
          asked={{ action: asked.value, instances: [instance] }}
          pending={pending}
          onClose={putting(asked, null)}
        />
      )}
    </>
  );
}
