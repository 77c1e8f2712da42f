/**
 * Remembers the actions whose effect the state of their thing does not show yet, so that the page answers every
 * click at once.
 */
import { signal } from '@preact/signals';
import type { InstanceInfo } from '../../model/instance.js';
import { type Api, apiPath } from '../api/api-client.js';

export const INSTANCE_ACTIONS = ['start', 'stop', 'restart', 'delete'] as const;
export type InstanceAction = (typeof INSTANCE_ACTIONS)[number];

/** Sends an action. Resolves when the API has accepted it. Throws ApiFailure. */
export function performAction(api: Api, action: InstanceAction, id: string): Promise<unknown> {
  if (action === 'delete') return api.delete(apiPath('instances', id));
  return api.patch(apiPath('instances', id, 'lifecycle'), { query: { target: action } });
}

interface Rules<T, Action> {
  readonly keyOf: (thing: T) => string;
  /** False when no change of the state would confirm the action. */
  readonly hasEffect: (action: Action, before: T) => boolean;
  /** True when the state shows that the action was taken up. */
  readonly isConfirmed: (before: T, now: T) => boolean;
}

interface Asked<T, Action> {
  readonly action: Action;
  /** The thing before the action. */
  readonly before: T;
  readonly at: number;
}

/**
 * The longest time that a mark stays. A stop may take longer while it waits for the program, but by then the state
 * says so.
 */
const LONGEST_MS = 15_000;

export class PendingMarks<T, Action> {
  readonly #rules: Rules<T, Action>;
  readonly #asked = signal<ReadonlyMap<string, Asked<T, Action>>>(new Map());

  constructor(rules: Rules<T, Action>) {
    this.#rules = rules;
  }

  ask(action: Action, things: readonly T[]): void {
    const { keyOf, hasEffect } = this.#rules;
    const at = Date.now();
    const next = new Map(this.#asked.value);
    for (const before of things)
      if (hasEffect(action, before)) next.set(keyOf(before), { action, before, at });
    this.#asked.value = next;
    setTimeout(() => this.#keep((asked) => asked.at !== at), LONGEST_MS);
  }

  /** Removes the mark, because the call failed. */
  forget(key: string): void {
    this.#keep(({ before }) => this.#rules.keyOf(before) !== key);
  }

  /** The action that the state of this thing does not show yet; undefined: there is none. */
  of(thing: T): Action | undefined {
    const { keyOf, isConfirmed } = this.#rules;
    const asked = this.#asked.value.get(keyOf(thing));
    return asked === undefined || isConfirmed(asked.before, thing) ? undefined : asked.action;
  }

  /** Marks a thing until its state shows the action. Removes the mark when the call fails. */
  protected async mark(action: Action, thing: T, call: Promise<unknown>): Promise<void> {
    this.ask(action, [thing]);
    try {
      await call;
    } catch (error) {
      this.forget(this.#rules.keyOf(thing));
      throw error;
    }
  }

  #keep(isKept: (asked: Asked<T, Action>) => boolean): void {
    this.#asked.value = new Map([...this.#asked.value].filter(([, asked]) => isKept(asked)));
  }
}

/** The fields in which an action shows. A report of the app, such as the number of players, confirms no action. */
const CONFIRMING = ['state', 'reason', 'message', 'restarts', 'processPid'] as const;

/** The marks of instances. */
export class PendingActions extends PendingMarks<InstanceInfo, InstanceAction> {
  constructor() {
    super({
      keyOf: ({ id }) => id,
      hasEffect: (action, { state }) =>
        action === 'start' ? state !== 'ONLINE' : action !== 'stop' || state !== 'STOPPED',
      isConfirmed: (before, now) => CONFIRMING.some((field) => before[field] !== now[field]),
    });
  }

  /** Sends an action and marks the instance. Resolves when the API has accepted it. Throws ApiFailure. */
  perform(api: Api, action: InstanceAction, instance: InstanceInfo): Promise<void> {
    return this.mark(action, instance, performAction(api, action, instance.id));
  }
}
