/** The services of every screen. `main.tsx` builds them once; `useServices` gets them anywhere below the page. */
import { type ReadonlySignal, type Signal, useSignal } from '@preact/signals';
import { createContext } from 'preact';
import { useContext, useEffect, useMemo, useRef } from 'preact/hooks';
import type { TopicName, Topics } from '../../watch-client/topics.js';
import type { Api, CallOptions } from '../api/api-client.js';
import type { Live } from '../live/live.js';
import { type Order, OrderedList } from '../live/ordered-list.js';
import type { TopicStore } from '../live/topic-store.js';
import type { Router } from '../router/router.js';
import type { Session } from '../session/session.js';
import type { Theme } from './theme.js';
import type { Toasts } from './toasts.js';

export interface Services {
  readonly api: Api;
  readonly session: Session;
  readonly live: Live;
  readonly router: Router;
  readonly toasts: Toasts;
  readonly theme: Signal<Theme>;
  /** True once the server has another version of the page than this tab. */
  readonly isOld: ReadonlySignal<boolean>;
  /** The time of this computer, renewed each second while the tab is seen. */
  readonly clock: Signal<number>;
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (services === null) throw new Error('useServices is called outside of the page');
  return services;
}

/**
 * Subscribes to a topic while the component is shown. The component renders again only if it reads `version` or
 * `isLoaded`.
 */
export function useTopic<Name extends TopicName>(topic: Name): TopicStore<Topics[Name]> {
  const { live } = useServices();
  useEffect(() => live.use(topic), [live, topic]);
  return live.stores[topic];
}

/** Subscribes to a topic, and renders again after each batch. */
export function useEntries<Name extends TopicName>(topic: Name): ReadonlyMap<string, Topics[Name]> {
  const store = useTopic(topic);
  void store.version.value;
  return store.entries;
}

/**
 * A list in order that follows its store, and renders again after each change. A new `order` makes a new list, so keep
 * it in useMemo.
 */
export function useOrderedList<T>(store: TopicStore<T>, order: Order<T>): OrderedList<T> {
  const version = useSignal(0);
  void version.value;
  const list = useMemo(() => new OrderedList(order, store.entries), [store, order]);
  useEffect(() => {
    // A batch may have come between the render and this effect.
    list.apply({ before: new Map(), isNew: true }, store.entries);
    version.value++;
    return store.listen((batch) => {
      if (list.apply(batch, store.entries)) version.value++;
    });
  }, [store, list, version]);
  return list;
}

/**
 * Returns a number that changes every few seconds. Use it as a key of `useAsked`, for facts that the change stream
 * lacks.
 */
export function useRound(everyMs = 5_000): number {
  return Math.floor(useServices().clock.value / everyMs);
}

interface Asked<T> {
  /** The last good answer. */
  readonly value: T | undefined;
  /** Why the last finished call failed; null: it succeeded, or no call has finished yet. */
  readonly error: unknown;
  readonly isAsking: boolean;
}

/** The answer to a question, and `again`, which asks once more. */
export type Asking<T> = ReadonlySignal<Asked<T>> & { readonly again: () => void };

/** Asks the API when the component is first shown, whenever one of `keys` changes, and at each call of `again()`. */
export function useAsked<T>(
  ask: (api: Api, signal: AbortSignal) => Promise<T>,
  keys: readonly unknown[],
): Asking<T> {
  const { api } = useServices();
  const round = useSignal(0);
  const state = useSignal<Asked<T>>({ value: undefined, error: null, isAsking: true });
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    const abort = new AbortController();
    state.value = { ...state.peek(), isAsking: true };
    latest.current(api, abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) state.value = { value, error: null, isAsking: false };
      },
      (error: unknown) => {
        if (!abort.signal.aborted) state.value = { ...state.peek(), error, isAsking: false };
      },
    );
    return () => abort.abort();
  }, [api, round.value, ...keys]);
  return useMemo(() => Object.assign(state, { again: () => void round.value++ }), [state, round]);
}

/** Asks the API for what stands at `path`, as `useAsked` does. Another path or query asks anew, too. */
export function useGot<T>(
  path: string,
  keys: readonly unknown[],
  query: NonNullable<CallOptions['query']> = {},
): Asking<T> {
  return useAsked(
    (api, signal) => api.get<T>(path, { signal, query }),
    [path, ...Object.values(query), ...keys],
  );
}
