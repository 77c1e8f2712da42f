/**
 * What the server says of one topic: its entries by key. Changes wait for the next frame of the screen and are taken in
 * batches, so that 1,000 a second make few renders and no long task.
 */
import { type ReadonlySignal, signal } from '@preact/signals';
import type { ChangesMessage, SnapshotMessage, SubscribeRequest, TopicMessage } from './messages.js';

/** A batch that was taken. `before` holds the former value of each key that was put or is gone, undefined if it had none. */
export interface Batch<T> {
  readonly before: ReadonlyMap<string, T | undefined>;
  /** Everything may be different: `before` is empty. */
  readonly isNew: boolean;
}

export interface TopicStoreOptions<T> {
  readonly topic: string;
  readonly keyOf: (entry: T) => string;
  /** Calls back before the next frame, or soon when the tab is hidden. */
  readonly schedule: (callback: () => void) => void;
}

/** So many entries are taken a frame: about 2 ms of work. */
const MOST_A_FRAME = 2_000;

export class TopicStore<T> {
  readonly topic: string;
  readonly #options: TopicStoreOptions<T>;
  readonly #queue: (SnapshotMessage | ChangesMessage)[] = [];
  readonly #listeners = new Set<(batch: Batch<T>) => void>();
  readonly #version = signal(0);
  readonly #isLoaded = signal(false);
  #entries = new Map<string, T>();
  /** A snapshot that is not complete yet: until then the old entries stand. */
  #arriving: Map<string, T> | null = null;
  #position: SubscribeRequest['resume'];
  #isScheduled = false;

  constructor(options: TopicStoreOptions<T>) {
    this.topic = options.topic;
    this.#options = options;
  }

  /** Rises with each batch. Who reads it renders again after the next one. */
  get version(): ReadonlySignal<number> {
    return this.#version;
  }

  /** Whether a whole snapshot has come. Before that an empty store says nothing. */
  get isLoaded(): ReadonlySignal<boolean> {
    return this.#isLoaded;
  }

  get entries(): ReadonlyMap<string, T> {
    return this.#entries;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  /** Calls `listener` after each batch, before those who read `version` render. Returns what ends it. */
  listen(listener: (batch: Batch<T>) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What continues where this store stands. */
  request(): SubscribeRequest {
    // What waits is of the connection before: the server will send it again.
    this.#queue.length = 0;
    this.#arriving = null;
    return { subscribe: this.topic, ...(this.#position !== undefined && { resume: this.#position }) };
  }

  receive(message: TopicMessage): void {
    if (message.type !== 'snapshot' && message.type !== 'changes') return;
    this.#queue.push(message);
    this.#flushSoon();
  }

  /** Forgets everything: the session is over. */
  clear(): void {
    this.request();
    this.#position = undefined;
    this.#entries = new Map();
    this.#isLoaded.value = false;
    this.#publish({ before: new Map(), isNew: true });
  }

  #flushSoon(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#options.schedule(() => {
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
      if (message.type === 'changes') this.#takeChanges(message, before);
      else isNew = this.#takeSnapshot(message) || isNew;
    }
    if (isNew || before.size > 0) this.#publish({ before: isNew ? new Map() : before, isNew });
  }

  #takeChanges(message: ChangesMessage, before: Map<string, T | undefined>): void {
    const remember = (key: string): void => {
      if (!before.has(key)) before.set(key, this.#entries.get(key));
    };
    for (const value of message.put) {
      const entry = value as T;
      const key = this.#options.keyOf(entry);
      remember(key);
      this.#entries.set(key, entry);
    }
    for (const key of message.gone) {
      remember(key);
      this.#entries.delete(key);
    }
    this.#position = { epoch: message.epoch, revision: message.revision };
  }

  /** True: it is complete, and in place of the entries before. */
  #takeSnapshot(message: SnapshotMessage): boolean {
    if (message.first) this.#arriving = new Map();
    for (const value of message.put) {
      const entry = value as T;
      this.#arriving?.set(this.#options.keyOf(entry), entry);
    }
    if (!message.last || this.#arriving === null) return false;
    this.#entries = this.#arriving;
    this.#arriving = null;
    this.#position = { epoch: message.epoch, revision: message.revision };
    this.#isLoaded.value = true;
    return true;
  }

  #publish(batch: Batch<T>): void {
    for (const listener of this.#listeners) listener(batch);
    this.#version.value++;
  }
}
