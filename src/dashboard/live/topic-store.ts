/**
 * The entries of one topic by key, as the server sends them. Changes wait for the next frame of the screen and are
 * taken in batches, so that 1,000 a second cause few renders and no long task.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import {
  type EntryMessage,
  isEntryMessage,
  type SubscribeRequest,
  type TopicMessage,
} from '../../watch-client/messages.js';
import { type Subscriber, TopicReader } from '../../watch-client/subscriptions.js';
import { WatchedEntries } from '../../watch-client/watched-entries.js';

/**
 * A batch of changes that was taken. `before` holds the former value of each key that was changed or removed. A new
 * key has the former value undefined.
 */
export interface Batch<T> {
  readonly before: ReadonlyMap<string, T | undefined>;
  /** True when all entries may have changed; `before` is empty then. */
  readonly isNew: boolean;
}

/** How many entries a frame takes: about 2 ms of work. */
const MOST_A_FRAME = 2_000;

export class TopicStore<T> implements Subscriber {
  readonly topic: string;
  readonly #schedule: (callback: () => void) => void;
  readonly #reader: TopicReader;
  readonly #entries: WatchedEntries<T>;
  /** Messages that wait for the next frames. */
  readonly #queue: EntryMessage[] = [];
  readonly #listeners = new Set<(batch: Batch<T>) => void>();
  readonly #version = signal(0);
  /** A counter that rises with each batch. A component that reads it renders again after the next batch. */
  readonly version: ReadonlySignal<number> = this.#version;
  readonly #isLoaded = signal(false);
  /** True after the first whole snapshot. Before that an empty store does not mean that there are no entries. */
  readonly isLoaded: ReadonlySignal<boolean> = this.#isLoaded;
  #isScheduled = false;

  /** `schedule`: calls back before the next frame, or soon when the tab is hidden. */
  constructor(topic: string, keyOf: (entry: T) => string, schedule: (callback: () => void) => void) {
    this.topic = topic;
    this.#schedule = schedule;
    this.#reader = new TopicReader(topic);
    this.#entries = new WatchedEntries(keyOf);
  }

  get entries(): ReadonlyMap<string, T> {
    return this.#entries.entries;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /**
   * Calls `listener` after each batch, before components that read `version` render. Returns the function that
   * removes the listener.
   */
  listen(listener: (batch: Batch<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Makes the request that continues after the last message, even if that message still waits for its frame. */
  request(): SubscribeRequest {
    return this.#reader.request();
  }

  receive(message: TopicMessage): void {
    if (!isEntryMessage(message)) return;
    this.#reader.receive(message);
    this.#queue.push(message);
    this.#flushSoon();
  }

  /** Forgets everything, because the session is over. */
  clear(): void {
    this.#queue.length = 0;
    this.#reader.forget();
    this.#entries.clear();
    this.#isLoaded.value = false;
    this.#publish({ before: new Map(), isNew: true });
  }

  #flushSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => {
      this.#isScheduled = false;
      this.#flush();
      if (this.#queue.length > 0) this.#flushSoon();
    });
  }

  #flush(): void {
    const before = new Map<string, T | undefined>();
    let isNew = false;
    let room = MOST_A_FRAME;
    while (room > 0) {
      const message = this.#queue.shift();
      if (message === undefined) break;
      room -= message.put.length;
      isNew = this.#entries.take(message, before) || isNew;
    }
    this.#isLoaded.value = this.#entries.isWhole;
    if (isNew || before.size > 0) this.#publish({ before: isNew ? new Map() : before, isNew });
  }

  #publish(batch: Batch<T>): void {
    for (const listener of this.#listeners) listener(batch);
    this.#version.value++;
  }
}
