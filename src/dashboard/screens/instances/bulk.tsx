/** Start, stop, restart and delete of the selected instances. A dialog shows all names first. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { Api } from '../../api/api-client.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/dialog.js';
import { Icon } from '../../parts/icon.js';
import {
  INSTANCE_ACTIONS,
  type InstanceAction,
  type PendingActions,
  performAction,
} from '../../parts/pending-actions.js';
import { text as parts } from '../../parts/text.js';
import { useServices } from '../../services/services.js';
import { sentenceFor } from '../../services/toasts.js';
import { text } from './text.js';

/** How many calls run at once. */
const AT_ONCE = 6;

/** An action on instances that waits for an answer in the dialog. */
export interface Asked {
  readonly action: InstanceAction;
  readonly instances: readonly InstanceInfo[];
}

interface BulkProps {
  readonly chosen: readonly InstanceInfo[];
  readonly onAsk: (asked: Asked) => void;
  readonly onClear: () => void;
}

export function Bulk({ chosen, onAsk, onClear }: BulkProps) {
  return (
    <div class="inline bulk">
      <strong>{text.chosen(chosen.length)}</strong>
      {INSTANCE_ACTIONS.map((action) => (
        <Button
          key={action}
          kind={action === 'delete' ? 'risky' : 'normal'}
          onPress={() => onAsk({ action, instances: chosen })}
        >
          <Icon name={action} />
          {parts.action[action]}
        </Button>
      ))}
      <Button kind="quiet" onPress={onClear}>
        {text.clear}
      </Button>
    </div>
  );
}

/** Asks with all names, then acts. `onDone`: called when no instance has refused. */
export function AskedDialog(props: {
  readonly asked: Asked;
  readonly pending: PendingActions;
  readonly onDone: () => void;
  readonly onClose: () => void;
}) {
  const { api, toasts } = useServices();
  const { pending, onDone, onClose } = props;
  const { action, instances } = props.asked;
  const perform = async (): Promise<void> => {
    pending.ask(action, instances);
    const refused = await performAll(api, action, instances);
    for (const id of refused.keys()) pending.forget(id);
    const [first] = refused.values();
    if (first !== undefined) throw new Error(text.someFailed(refused.size, first));
    toasts.done(parts.done(action, text.names(instances.length)));
    onDone();
  };
  return (
    <Confirm
      title={parts.ask(action, text.names(instances.length))}
      explanation={text.explain[action]}
      names={instances.map(({ id, configurationName }) => `${id} ${configurationName}`)}
      action={parts.action[action]}
      isDanger={action === 'delete'}
      onConfirm={perform}
      onClose={onClose}
    />
  );
}

/** Tries all instances. Returns the ids of those that were refused, each with the reason. */
async function performAll(
  api: Api,
  action: InstanceAction,
  instances: readonly InstanceInfo[],
): Promise<ReadonlyMap<string, string>> {
  const waiting = instances.values();
  const refused = new Map<string, string>();
  const work = async (): Promise<void> => {
    for (const { id } of waiting)
      await performAction(api, action, id).catch((error: unknown) => refused.set(id, sentenceFor(error)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return refused;
}
