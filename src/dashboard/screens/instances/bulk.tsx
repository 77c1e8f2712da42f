/** Start, stop, restart and delete of the selected instances. A dialog shows all names first. */
import { useSignal } from '@preact/signals';
import type { InstanceInfo } from '../../../model/instance.js';
import type { Api } from '../../api/api-client.js';
import { Button } from '../../parts/button.js';
import { Confirm } from '../../parts/dialog.js';
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

interface BulkProps {
  readonly chosen: readonly InstanceInfo[];
  readonly pending: PendingActions;
  readonly onClear: () => void;
}

export function Bulk({ chosen, pending, onClear }: BulkProps) {
  const { api, toasts } = useServices();
  const asked = useSignal<InstanceAction | null>(null);
  const perform = async (action: InstanceAction): Promise<void> => {
    pending.ask(action, chosen);
    const refused = await performAll(api, action, chosen);
    for (const id of refused.keys()) pending.forget(id);
    const [first] = refused.values();
    if (first !== undefined) throw new Error(text.someFailed(refused.size, first));
    toasts.done(parts.done(action, text.names(chosen.length)));
    onClear();
  };
  return (
    <div class="inline bulk">
      <strong>{text.chosen(chosen.length)}</strong>
      {INSTANCE_ACTIONS.map((action) => (
        <Button
          key={action}
          onPress={() => {
            asked.value = action;
          }}
        >
          {parts.action[action]}
        </Button>
      ))}
      <Button kind="quiet" onPress={onClear}>
        {text.clear}
      </Button>
      {asked.value !== null && (
        <Confirm
          title={parts.ask(asked.value, text.names(chosen.length))}
          explanation={text.explain[asked.value]}
          names={chosen.map(({ id, configurationName }) => `${id} ${configurationName}`)}
          action={parts.action[asked.value]}
          isDanger={asked.value === 'delete'}
          onConfirm={() => perform(asked.value ?? 'start')}
          onClose={() => {
            asked.value = null;
          }}
        />
      )}
    </div>
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
