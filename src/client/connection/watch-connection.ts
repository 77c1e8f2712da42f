/**
 * Follows the change stream of a master over lost connections: it connects again, subscribes again, and goes on in each
 * topic where its reader was. What was not read yet waits with the master, not here.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RawData, WebSocket } from 'ws';
import { ClientError, EXIT, isTransient } from '../../command-tree/runs/client-error.js';
import { backoffMs } from '../../loop/backoff.js';
import { durationText } from '../../model/words.js';
import type { ApiConnection } from './connection.js';
import { type Position, parseFrame, type WatchMessage } from './watch-messages.js';

/** The master says something every 10 s. */
const SILENCE_MS = 20_000;
const RETRY = { baseMs: 250, maxMs: 5000 };
const OLDER =
  'does not have the change stream, which this command needs: its Drover is older than this client';

export interface WatchOptions {
  /** Told in one line each when the connection is lost, why it does not come back, and when it is there again. */
  readonly say: (line: string) => void;
  /** How long the master may say nothing. Default: 20 s. */
  readonly silenceMs?: number;
}

/** How a topic is asked for: the fields of the message beside its name, made anew for each connection. */
type Request = () => object;

interface Subscription {
  readonly request: Request;
  /** Undefined: the reader has not got all that is there yet. */
  position: Position | undefined;
}

/** Why a connection ended, for people. */
interface Loss {
  readonly problem: string;
}

export class WatchConnection {
  readonly #connection: ApiConnection;
  readonly #options: WatchOptions;
  readonly #subscriptions = new Map<string, Subscription>();
  #socket: WebSocket | undefined;

  constructor(connection: ApiConnection, options: WatchOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  /** Follows a topic from now on, and after each new connection. Takes the place of an earlier subscription of it. */
  subscribe(topic: string, request: Request = () => ({})): void {
    const subscription = { request, position: undefined };
    this.#subscriptions.set(topic, subscription);
    this.#ask(topic, subscription);
  }

  /** Messages that are on their way still come. */
  unsubscribe(topic: string): void {
    if (this.#subscriptions.delete(topic)) this.#socket?.send(JSON.stringify({ unsubscribe: topic }));
  }

  /**
   * All messages, `open` first; called once. It ends when `signal` aborts. A reader that does not ask for the next one
   * stops the stream. Throws a ClientError when the first connection fails, and when the master refuses a later one.
   */
  async *messages(signal: AbortSignal): AsyncGenerator<WatchMessage, void> {
    let lostAt: number | undefined;
    while (!signal.aborted) {
      const socket = await this.#open(signal, lostAt !== undefined);
      if (socket === undefined) return;
      if (lostAt !== undefined)
        this.#options.say(
          `connected to ${this.#connection.name} again after ${durationText(performance.now() - lostAt)}`,
        );
      const { problem } = yield* this.#read(socket, signal, lostAt !== undefined);
      if (signal.aborted) return;
      lostAt = performance.now();
      this.#options.say(`the connection to ${this.#connection.name} was lost (${problem}): trying again`);
    }
  }

  /** Tries until it succeeds, once it had succeeded before. Undefined: `signal` aborted. */
  async #open(signal: AbortSignal, isAgain: boolean): Promise<WebSocket | undefined> {
    let said = '';
    // What draws over the terminal says it there, once it has drawn.
    const sayWaits = isAgain ? this.#options.say : undefined;
    for (let failures = 0; !signal.aborted; failures++) {
      try {
        return await this.#connection.openSocket('/watch', signal, sayWaits);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof ClientError)) throw error;
        if (error.exitCode === EXIT.notFound)
          throw new ClientError(EXIT.failed, `${this.#connection.name} ${OLDER}`);
        if (!isAgain || !isTransient(error)) throw error;
        if (said !== error.message) this.#options.say(error.message);
        said = error.message;
      }
      const waitMs = backoffMs(failures, RETRY);
      // Not all clients of a master at once.
      await pause(randomInt(waitMs / 2, waitMs), undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }

  async *#read(socket: WebSocket, signal: AbortSignal, isAgain: boolean): AsyncGenerator<WatchMessage, Loss> {
    const inbox = new Inbox(socket, this.#options.silenceMs ?? SILENCE_MS);
    const onAbort = (): void => socket.terminate();
    signal.addEventListener('abort', onAbort);
    try {
      yield { type: 'open', isAgain };
      this.#socket = socket;
      for (const [topic, subscription] of this.#subscriptions) this.#ask(topic, subscription);
      for (;;) {
        const message = await inbox.next();
        if ('problem' in message) return message;
        this.#note(message);
        yield message;
      }
    } finally {
      this.#socket = undefined;
      signal.removeEventListener('abort', onAbort);
      inbox.close();
    }
  }

  #ask(topic: string, { request, position }: Subscription): void {
    if (this.#socket === undefined) return;
    const resume = position === undefined ? {} : { resume: position };
    this.#socket.send(JSON.stringify({ subscribe: topic, ...request(), ...resume }));
  }

  /** Notes how far the reader is. With half a snapshot it cannot go on. */
  #note(message: WatchMessage): void {
    if (message.type !== 'snapshot' && message.type !== 'changes') return;
    const subscription = this.#subscriptions.get(message.topic);
    if (subscription === undefined) return;
    const isWhole = message.type === 'changes' || message.isLast;
    subscription.position = isWhole ? message.position : undefined;
  }
}

/** The messages of one socket that were not read yet. While there are some, the socket stands still. */
class Inbox {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  #messages: WatchMessage[] = [];
  #loss: Loss | Error | undefined;
  #wake: (() => void) | undefined;
  #heardAt = performance.now();

  constructor(socket: WebSocket, silenceMs: number) {
    this.#socket = socket;
    this.#timer = setInterval(() => this.#look(silenceMs), silenceMs / 2);
    socket.on('message', (data) => this.#take(data));
    socket.on('error', ({ message }) => this.#end({ problem: message }));
    socket.on('close', (_code, reason) =>
      this.#end({ problem: reason.length === 0 ? 'it was cut' : reason.toString() }),
    );
  }

  /** The next message, or why there is none any more. Throws a ClientError for what is no message. */
  async next(): Promise<WatchMessage | Loss> {
    for (;;) {
      const message = this.#messages.shift();
      if (message !== undefined) return message;
      if (this.#loss instanceof Error) throw this.#loss;
      if (this.#loss !== undefined) return this.#loss;
      if (this.#socket.isPaused) {
        this.#heardAt = performance.now();
        this.#socket.resume();
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#socket.terminate();
  }

  #take(data: RawData): void {
    this.#heardAt = performance.now();
    try {
      this.#messages = this.#messages.concat(parseFrame(data.toString()));
    } catch (error) {
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
    if (this.#messages.length === 0) return;
    this.#socket.pause();
    this.#wake?.();
  }

  #end(loss: Loss | Error): void {
    this.#loss ??= loss;
    this.#wake?.();
  }

  #look(silenceMs: number): void {
    // The master ends a connection that shows no life, and a socket that stands still answers no ping.
    if (this.#socket.isPaused) this.#socket.ping();
    else if (performance.now() - this.#heardAt > silenceMs) {
      this.#end({ problem: `nothing was heard for ${durationText(silenceMs)}` });
      this.#socket.terminate();
    }
  }
}
