/**
 * The latest events of instances and nodes, made from the change stream. Before any change they come from the first
 * snapshot: when the youngest instances were made, and since when each node has its condition.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { Topics } from '../../watch-client/topics.js';
import type { Batch, TopicStore } from './topic-store.js';

type Instance = Topics['instances'];
type Node = Topics['nodes'];

export interface ClusterEvent {
  readonly key: string;
  /** The time of the event, in Unix milliseconds. */
  readonly at: number;
  readonly what: 'made' | 'online' | 'offline' | 'stopped' | 'removed' | Node['condition'];
  /** The instance of the event. Either `instance` or `node` is set. */
  readonly instance: Pick<Instance, 'id' | 'configurationName'> | null;
  readonly node: string | null;
  readonly message: string | null;
}

type Untold = Omit<ClusterEvent, 'key'>;

const MOST = 12;
const STATES: Readonly<Record<Instance['state'], ClusterEvent['what'] | null>> = {
  // Leave CREATING out: the state is short, and events stand before and after it.
  CREATING: null,
  ONLINE: 'online',
  OFFLINE: 'offline',
  STOPPED: 'stopped',
};

type Store<T> = Pick<TopicStore<T>, 'listen' | 'entries'>;

export class RecentEvents {
  readonly #list = signal<readonly ClusterEvent[]>([]);
  /** The events, the newest first. */
  readonly list: ReadonlySignal<readonly ClusterEvent[]> = this.#list;
  readonly #now: () => number;
  #last = 0;

  /** Follows both stores for as long as they live. */
  constructor(instances: Store<Instance>, nodes: Store<Node>, now: () => number) {
    this.#now = now;
    instances.listen((batch) => this.#take(batch, instances.entries, eventOf, beginningOf));
    nodes.listen((batch) => this.#take(batch, nodes.entries, conditionChangeOf, conditionOf));
  }

  /** Forgets all events, because the session is over. */
  clear(): void {
    this.#list.value = [];
  }

  #take<T>(
    { before, isNew }: Batch<T>,
    entries: ReadonlyMap<string, T>,
    changeOf: (before: T | undefined, after: T | undefined, at: number) => Untold | null,
    firstOf: (entry: T) => Untold,
  ): void {
    const told: Untold[] = [];
    if (isNew) for (const entry of entries.values()) told.push(firstOf(entry));
    else
      for (const [key, old] of before) {
        const change = changeOf(old, entries.get(key), this.#now());
        if (change !== null) told.push(change);
      }
    if (told.length > 0) this.#add(told);
  }

  #add(told: readonly Untold[]): void {
    const known = new Set(this.#list.value.map(identityOf));
    const fresh = newest(told)
      .filter((event) => !known.has(identityOf(event)))
      .map((event) => ({ ...event, key: String(++this.#last) }));
    this.#list.value = newest([...fresh, ...this.#list.value]);
  }
}

/** The latest events, the newest first. Events of the same time keep their order. */
function newest<T extends Untold>(events: readonly T[]): T[] {
  return events.toSorted((a, b) => b.at - a.at).slice(0, MOST);
}

/** Returns a key by which a repeated event is known: a second snapshot brings the events of the first again. */
function identityOf({ at, what, instance, node }: Untold): string {
  return `${at} ${what} ${instance?.id} ${node}`;
}

function beginningOf(instance: Instance): Untold {
  return { at: instance.createdAt, what: 'made', instance, node: null, message: null };
}

function eventOf(before: Instance | undefined, after: Instance | undefined, at: number): Untold | null {
  if (after === undefined)
    return before === undefined ? null : { at, what: 'removed', instance: before, node: null, message: null };
  if (before === undefined) return beginningOf(after);
  const what = before.state === after.state ? null : STATES[after.state];
  if (what === null) return null;
  return { at, what, instance: after, node: null, message: what === 'online' ? null : after.message };
}

function conditionOf({ nodeId, condition, conditionSince }: Node): Untold {
  return { at: conditionSince, what: condition, instance: null, node: nodeId, message: null };
}

function conditionChangeOf(before: Node | undefined, after: Node | undefined, at: number): Untold | null {
  if (after === undefined)
    return before === undefined
      ? null
      : { at, what: 'removed', instance: null, node: before.nodeId, message: null };
  return before?.condition === after.condition ? null : conditionOf(after);
}
