/**
 * Sends actions on instances, and marks the instances whose state does not show the action yet, so that every click is
 * answered.
 */
import { signal } from '@preact/signals';
import type { InstanceInfo } from '../../model/instance.js';
import { type Api, apiPath } from '../api/api-client.js';

export type InstanceAction = 'start' | 'stop' | 'restart' | 'delete';

/** Sends an action. Resolves when the API has accepted it. Throws ApiFailure. */
export function performAction(api: Api, action: InstanceAction, id: string): Promise<unknown> {
  if (action === 'delete') return api.delete(apiPath('instances', id));
  return api.patch(apiPath('instances', id, 'lifecycle'), { query: { target: action } });
}

interface Asked {
  readonly action: InstanceAction;
  /** The instance before the action. */
  readonly before: InstanceInfo;
  readonly at: number;
}

/** The fields in which an action shows. A report of the app, such as its players, confirms nothing. */
const CONFIRMING = ['state', 'reason', 'message', 'restarts', 'processPid'] as const;

/** How long a mark stays at most. A stop may wait longer for its program, and then the state says so. */
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

  /** Removes the mark, because the call failed. */
  forget(id: string): void {
    const next = new Map(this.#asked.value);
    next.delete(id);
    this.#asked.value = next;
  }

  /** The action that this instance does not show yet; undefined: none. */
  of(instance: InstanceInfo): InstanceAction | undefined {
    const asked = this.#asked.value.get(instance.id);
    if (asked === undefined || CONFIRMING.some((field) => asked.before[field] !== instance[field]))
      return undefined;
    return asked.action;
  }

  /** Ends the marks that were made at this time. */
  #endThose(at: number): void {
    this.#asked.value = new Map([...this.#asked.value].filter(([, asked]) => asked.at !== at));
  }
}

/** False for the start of an instance that runs: no change of its state would confirm it. */
function hasEffect(action: InstanceAction, { state }: InstanceInfo): boolean {
  if (action === 'start') return state !== 'ONLINE';
  return action !== 'stop' || state !== 'STOPPED';
}
