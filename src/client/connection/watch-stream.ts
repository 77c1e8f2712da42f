/**
 * Follows the change stream of a master over lost connections. It reconnects, subscribes again, and continues each
 * topic where its reader was. Unread messages wait on the master, not here.
 */
import { randomInt } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { RawData, WebSocket } from 'ws';
import { ClientError, EXIT, failedError, isTransient } from '../../command-tree/runs/client-error.js';
import { durationText } from '../../model/plain/duration-text.js';
import { parseFrame, type WatchMessage } from '../../watch-client/messages.js';
import {
  connectBackoff,
  SILENCE_MS,
  Subscriptions,
  TopicReader,
  type Wanted,
} from '../../watch-client/subscriptions.js';
import type { ApiConnection } from './connection.js';

const RANDOM_STEPS = 2 ** 32;
const OLDER =
  'does not have the change stream, which this command needs: its Drover is older than this client';

/** Each connection begins with a message `open`, which the stream itself creates. */
export type StreamMessage = WatchMessage | { readonly type: 'open'; readonly isAgain: boolean };

/** Why a connection ended, as text for people. */
interface Loss {
  readonly problem: string;
}

export class WatchStream {
  readonly #connection: ApiConnection;
  readonly #say: (line: string) => void;
  readonly #silenceMs: number;
  readonly #subscriptions = new Subscriptions();

  /**
   * `say` receives a line when the connection is lost, when a try fails for a new reason, and when the connection is
   * restored. `silenceMs`: how long the master may stay silent before the connection counts as lost.
   */
  constructor(connection: ApiConnection, say: (line: string) => void, silenceMs = SILENCE_MS) {
    this.#connection = connection;
    this.#say = say;
    this.#silenceMs = silenceMs;
  }

  /**
   * Subscribes to a topic, now and after each new connection. Replaces an earlier subscription to the topic. Returns a
   * function that ends the subscription; messages already sent by the master still arrive.
   */
  subscribe(topic: string, wanted?: () => Wanted): () => void {
    return this.#subscriptions.add(new TopicReader(topic, wanted));
  }

  /**
   * Yields all messages until `signal` aborts; call once. The socket is not read while the caller handles a message.
   * Throws a ClientError when the first connection fails, or the master refuses a later one.
   */
  async *messages(signal: AbortSignal): AsyncGenerator<StreamMessage, void> {
    let lostAt: number | undefined;
    while (!signal.aborted) {
      const socket = await this.#open(signal, lostAt !== undefined);
      if (socket === undefined) return;
      if (lostAt !== undefined)
        this.#say(
          `connected to ${this.#connection.name} again after ${durationText(performance.now() - lostAt)}`,
        );
      const { problem } = yield* this.#read(socket, signal, lostAt !== undefined);
      if (signal.aborted) return;
      lostAt = performance.now();
      this.#say(`the connection to ${this.#connection.name} was lost (${problem}): trying again`);
    }
  }

  /** Opens the socket. After an earlier connection it retries until it succeeds. Undefined: `signal` aborted. */
  async #open(signal: AbortSignal, isAgain: boolean): Promise<WebSocket | undefined> {
    let said = '';
    const backoff = connectBackoff(() => randomInt(RANDOM_STEPS) / RANDOM_STEPS);
    // When reconnecting, report waits through this stream's `say`: a drawing command shows such lines itself.
    const sayWaits = isAgain ? this.#say : undefined;
    while (!signal.aborted) {
      try {
        return await this.#connection.openSocket('/watch', signal, sayWaits);
      } catch (error) {
        if (signal.aborted) return undefined;
        if (!(error instanceof ClientError)) throw error;
        if (error.exitCode === EXIT.notFound) throw failedError(`${this.#connection.name} ${OLDER}`);
        if (!isAgain || !isTransient(error)) throw error;
        if (said !== error.message) this.#say(error.message);
        said = error.message;
      }
      await pause(backoff.next(), undefined, { signal }).catch(() => undefined);
    }
    return undefined;
  }

  async *#read(
    socket: WebSocket,
    signal: AbortSignal,
    isAgain: boolean,
  ): AsyncGenerator<StreamMessage, Loss> {
    const inbox = new Inbox(socket, this.#silenceMs);
    const onAbort = (): void => socket.terminate();
    signal.addEventListener('abort', onAbort);
    try {
      yield { type: 'open', isAgain };
      this.#subscriptions.connected((text) => socket.send(text));
      // After an abort nothing of what still arrived matters, a broken message neither.
      while (!signal.aborted) {
        const message = await inbox.next();
        if ('problem' in message) return message;
        if (message.type !== 'error') this.#subscriptions.deliver(message);
        yield message;
      }
      return { problem: 'it was ended here' };
    } finally {
      this.#subscriptions.disconnected();
      signal.removeEventListener('abort', onAbort);
      inbox.close();
    }
  }
}

/** The unread messages of one socket. The socket is paused while unread messages are left. */
class Inbox {
  readonly #socket: WebSocket;
  readonly #timer: NodeJS.Timeout;
  #messages: WatchMessage[] = [];
  #loss: Loss | ClientError | undefined;
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

  /**
   * Returns the next message, or why the connection ended. Throws a ClientError for a message that cannot be parsed.
   */
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
    const messages = parseFrame(data.toString());
    if (messages !== undefined) this.#messages = this.#messages.concat(messages);
    else this.#end(failedError('the master sends what is no message of the change stream'));
    if (this.#messages.length === 0) return;
    this.#socket.pause();
    this.#wake?.();
  }

  #end(loss: Loss | ClientError): void {
    this.#loss ??= loss;
    this.#wake?.();
  }

  #look(silenceMs: number): void {
    // Send pings from here: a paused socket answers no ping, and the master ends a connection without signs of life.
    if (this.#socket.isPaused) this.#socket.ping();
    else if (performance.now() - this.#heardAt > silenceMs) {
      this.#end({ problem: `nothing was heard for ${durationText(silenceMs)}` });
      this.#socket.terminate();
    }
  }
}
