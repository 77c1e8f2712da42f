/** Asks before an action on instances, with all names, and acts. */
import type { InstanceInfo } from '../../../model/instance.js';
import type { Api } from '../../api/api-client.js';
import { useServices } from '../../services/services.js';
import { sentenceFor } from '../../services/toasts.js';
import { Confirm } from '../dialog.js';
import { type InstanceAction, type PendingActions, performAction } from '../pending-actions.js';
import { text as parts } from '../text.js';
import { text } from './text.js';

/** How many calls run at once. */
const AT_ONCE = 6;

/** An action on instances that waits for an answer in the dialog. */
export interface Asked {
  readonly action: InstanceAction;
  readonly instances: readonly InstanceInfo[];
}

/** Asks with all names, then acts. `onDone`: called when no instance has refused. */
export function AskedDialog(props: {
  readonly asked: Asked;
  readonly pending: PendingActions;
  readonly onDone?: () => void;
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
    onDone?.();
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
