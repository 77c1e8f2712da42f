/**
 * The topics of a connection to the change stream. They outlive a socket: each topic continues over the next socket.
 * The caller owns the sockets.
 */
import { Backoff } from '../loop/backoff.js';
import { isEntryMessage, type Position, type SubscribeRequest, type TopicMessage } from './messages.js';

/** The master beats every 10 s. A connection that is silent for longer than this is lost. */
export const SILENCE_MS = 20_000;

/**
 * The delays before the tries to connect again. `random` returns a number in [0, 1), so that readers of one master
 * come back at different times.
 */
export function connectBackoff(random: () => number): Backoff {
  return new Backoff(random, { baseMs: 250, maxMs: 5_000 });
}

export interface Subscriber {
  readonly topic: string;
  /**
   * The message that subscribes to the topic. Called at each connect, so that the message names the last position
   * received.
   */
  request(): SubscribeRequest;
  receive(message: TopicMessage): void;
}

/** The fields of a subscription beside the topic and the position. */
export type Wanted = Omit<SubscribeRequest, 'subscribe' | 'resume'>;

/** A subscriber that continues after its last message when the connection returns. */
export class TopicReader implements Subscriber {
  readonly topic: string;
  readonly #wanted: () => Wanted;
  /** The position of the last message; undefined: a whole snapshot is needed. */
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

  /**
   * Notes the position of a message. In the middle of a snapshot there is no position: a new connection needs the whole
   * snapshot.
   */
  receive(message: TopicMessage): void {
    if (!isEntryMessage(message)) return;
    const isWhole = message.type === 'changes' || message.isLast;
    this.#position = isWhole ? message.position : undefined;
  }

  /** Forgets the position: the next subscription asks for a whole snapshot. */
  forget(): void {
    this.#position = undefined;
  }
}

export class Subscriptions {
  readonly #subscribers = new Map<string, Subscriber>();
  /** Sends on the open socket; undefined: there is no open socket. */
  #send: ((text: string) => void) | undefined;

  get size(): number {
    return this.#subscribers.size;
  }

  /**
   * Subscribes now and after each connect. Replaces an earlier subscriber of the topic. Returns the function that ends
   * the topic; it also drops messages that are still on their way.
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

  /** Called with a new open socket: all topics begin or continue on it. */
  connected(send: (text: string) => void): void {
    this.#send = send;
    for (const subscriber of this.#subscribers.values()) send(JSON.stringify(subscriber.request()));
  }

  disconnected(): void {
    this.#send = undefined;
  }

  /** Hands a message to the subscriber of its topic. Drops the message when the topic has ended. */
  deliver(message: TopicMessage): void {
    this.#subscribers.get(message.topic)?.receive(message);
  }
}
