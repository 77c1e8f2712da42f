/** Asks for actions on instances, and knows which have not shown in their state yet: those are marked, so no click is silent. */
import { signal } from '@preact/signals';
import type { InstanceInfo } from '../../model/instance.js';
import { type Api, apiPath } from '../api/api-client.js';

export type InstanceAction = 'start' | 'stop' | 'restart' | 'delete';

/** Resolves when the API has taken it. Throws ApiFailure. */
export function performAction(api: Api, action: InstanceAction, id: string): Promise<unknown> {
  if (action === 'delete') return api.delete(apiPath('instances', id));
  return api.patch(apiPath('instances', id, 'lifecycle'), { query: { target: action } });
}

interface Asked {
  readonly action: InstanceAction;
  /** The instance as it was. */
  readonly before: InstanceInfo;
  readonly at: number;
}

/** What an action shows in. What the app reports beside, such as players, confirms nothing. */
const CONFIRMING = ['state', 'reason', 'message', 'restarts', 'processPid'] as const;

/** A stop may wait long for its program; after this the state speaks for itself. */
const LONGEST_MS = 15_000;

export class PendingActions {
  readonly #asked = signal<ReadonlyMap<string, Asked>>(new Map());

  ask(action: InstanceAction, instances: readonly InstanceInfo[]): void {
    const at = Date.now();
    const next = new Map(this.#asked.value);
    for (const before of instances)
      if (hasEffect(action, before)) next.set(before.id, { action, before, at });
    this.#asked.value = next;
    setTimeout(() => this.#endThose(at), LONGEST_MS);
  }

  /** The call failed: nothing is on its way. */
  forget(id: string): void {
    const next = new Map(this.#asked.value);
    next.delete(id);
    this.#asked.value = next;
  }

  /** What is on its way for this instance; undefined: nothing. */
  of(instance: InstanceInfo): InstanceAction | undefined {
    const asked = this.#asked.value.get(instance.id);
    if (asked === undefined || CONFIRMING.some((field) => asked.before[field] !== instance[field]))
      return undefined;
    return asked.action;
  }

  /** Ends the marks that were made then. */
  #endThose(at: number): void {
    this.#asked.value = new Map([...this.#asked.value].filter(([, asked]) => asked.at !== at));
  }
}

/** What runs already is not started, and nothing would confirm it. */
function hasEffect(action: InstanceAction, { state }: InstanceInfo): boolean {
  if (action === 'start') return state !== 'ONLINE';
  return action !== 'stop' || state !== 'STOPPED';
}
