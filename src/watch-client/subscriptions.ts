/** The topics that a connection to the change stream has, over one socket after another. The socket itself is the caller's. */
import { Backoff } from '../loop/backoff.js';
import { isEntryMessage, type Position, type SubscribeRequest, type TopicMessage } from './messages.js';

/** The master beats every 10 s. A connection that is silent for longer than this is lost. */
export const SILENCE_MS = 20_000;

/** The delays before the tries to connect again. `random` answers in [0, 1): readers of one master come back at different times. */
export function connectBackoff(random: () => number): Backoff {
  return new Backoff(random, { baseMs: 250, maxMs: 5_000 });
}

export interface Subscriber {
  readonly topic: string;
  /**
   * The message that subscribes to the topic. Called at each connect, so that the message can name the last position
   * received.
   */
  request(): SubscribeRequest;
  receive(message: TopicMessage): void;
}

/** What a subscriber asks for beside the topic. */
export type Wanted = Omit<SubscribeRequest, 'subscribe' | 'resume'>;

/** A subscriber that goes on after its last message. */
export class TopicReader implements Subscriber {
  readonly topic: string;
  readonly #wanted: () => Wanted;
  /** Undefined: a whole snapshot is needed. */
  #position: Position | undefined;

  /** `wanted` is called at each connect. Default: all entries of the topic. */
  constructor(topic: string, wanted: () => Wanted = () => ({})) {
    this.topic = topic;
    this.#wanted = wanted;
  }

  request(): SubscribeRequest {
    const resume = this.#position === undefined ? {} : { resume: this.#position };
    return { subscribe: this.topic, ...this.#wanted(), ...resume };
  }

  /** Notes how far the reader is. After half a snapshot it must begin again. */
  receive(message: TopicMessage): void {
    if (!isEntryMessage(message)) return;
    const isWhole = message.type === 'changes' || message.isLast;
    this.#position = isWhole ? message.position : undefined;
  }

  /** Begins again with a whole snapshot. */
  forget(): void {
    this.#position = undefined;
  }
}

export class Subscriptions {
  readonly #subscribers = new Map<string, Subscriber>();
  /** Undefined: there is no open socket. */
  #send: ((text: string) => void) | undefined;

  get size(): number {
    return this.#subscribers.size;
  }

  /**
   * Begins a topic, now and after each connect. Takes the place of an earlier subscriber of the topic. Returns the
   * function that ends the topic; messages that are on their way are not delivered any more.
   */
  add(subscriber: Subscriber): () => void {
    const { topic } = subscriber;
    this.#subscribers.set(topic, subscriber);
    this.#send?.(JSON.stringify(subscriber.request()));
    return () => {
      if (this.#subscribers.get(topic) !== subscriber) return;
      this.#subscribers.delete(topic);
      this.#send?.(JSON.stringify({ unsubscribe: topic }));
    };
  }

  /** A socket is open: all topics begin or go on over it. */
  connected(send: (text: string) => void): void {
    this.#send = send;
    for (const subscriber of this.#subscribers.values()) send(JSON.stringify(subscriber.request()));
  }

  disconnected(): void {
    this.#send = undefined;
  }

  /** Hands a message to the subscriber of its topic. A topic that has ended has none. */
  deliver(message: TopicMessage): void {
    this.#subscribers.get(message.topic)?.receive(message);
  }
}
