/**
 * The channel's transport over one WebSocket. It encodes, paces and bounds what is sent, checks what comes, and notices
 * when the other end has gone without a word.
 */

import type { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Clock, TimerHandle } from '../../loop/clock.js';
import { cutToBytes } from '../../model/words.js';
import { decodeFrame, encodeFrame } from './frame-codec.js';
import type { Frame, Message } from './messages.js';
import { laneOf, PacedSender } from './paced-sender.js';
import type { Transport } from './transport.js';

const TICK_MS = 1000;
/**
 * How many bytes the socket may hold beside one large message. Beyond it, a peer that pings but reads nothing is
 * disconnected.
 */
const MOST_UNREAD_BYTES = 32 * 1024 * 1024;
/** Every second tick sends a ping, so that the other side hears from this side even when there is nothing to say. */
const PING_EVERY_TICKS = 2;
/** A WebSocket's close reason is 123 bytes at most. */
const MAX_REASON_BYTES = 123;
const NORMAL = 1000;
const POLICY_VIOLATION = 1008;
/** How long a connection that closes in order may take to deliver the last messages. */
const CLOSE_GRACE_MS = 2000;

interface WebSocketTransportOptions {
  readonly webSocket: Pick<WebSocket, 'bufferedAmount' | 'send' | 'ping' | 'close' | 'terminate'> &
    Pick<EventEmitter, 'on' | 'once'>;
  /** The socket below the WebSocket. Its bytes are a sign of life even while a message is incomplete. */
  readonly socket: Pick<Socket, 'bytesRead' | 'cork' | 'uncork'>;
  /** A connection that brings nothing for this long is closed. */
  readonly silenceMs: number;
  /** The name of the other end in reasons, such as `the master`. */
  readonly peer: string;
  readonly clock: Clock;
  /** The limit for the bytes of a call of the other end. Default: half a MiB. */
  readonly mostCallBytes?: number;
}

export class WebSocketTransport implements Transport {
  readonly #options: WebSocketTransportOptions;
  readonly #sender: PacedSender;
  #inbox: Frame[] = [];
  #frameListener: ((frame: Frame) => void) | undefined;
  #closeListener: ((reason: string) => void) | undefined;
  #closeReason: string | undefined;
  #tick: TimerHandle | undefined;
  #ticks = 0;
  #isCorked = false;
  /**
   * How many of our own ticks in a row brought nothing. A process that slept has no ticks, so its sleep does not count.
   */
  #silentTicks = 0;
  #bytesRead: number;
  /** The size of the largest message that was sent. The socket may hold all of it. */
  #largestSent = 0;

  constructor(options: WebSocketTransportOptions) {
    this.#options = options;
    const { webSocket, socket, clock } = options;
    this.#bytesRead = socket.bytesRead;
    this.#sender = new PacedSender({
      clock,
      write: (data) => this.#write(data),
      mark: (mark) => webSocket.ping(String(mark), undefined, ignore),
      onOverflow: () => this.#fail(`${options.peer} does not read`),
    });
    webSocket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    // Check the limit at each ping: the library answers with a pong, and pongs pile up when the peer does not read.
    webSocket.on('ping', () => {
      if (webSocket.bufferedAmount > MOST_UNREAD_BYTES + this.#largestSent)
        this.#fail(`${options.peer} does not read`);
    });
    webSocket.on('pong', (data: Buffer) => this.#sender.marked(Number(data.toString('latin1'))));
    webSocket.on('error', (error: Error) => this.#end(`the connection broke: ${error.message}`));
    webSocket.on('close', (_code: number, reason: Buffer) =>
      this.#end(reason.toString('utf8') || 'the connection ended'),
    );
    this.#tickLater();
  }

  get isOpen(): boolean {
    return this.#closeReason === undefined;
  }

  send(message: Message, body?: Buffer): void {
    if (!this.isOpen) return;
    const data = encodeFrame(message, body);
    this.#largestSent = Math.max(this.#largestSent, data.length);
    this.#sender.send(laneOf(message), data);
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#frameListener = listener;
    const waiting = this.#inbox;
    this.#inbox = [];
    queueMicrotask(() => {
      for (const frame of waiting) if (this.isOpen) listener(frame);
    });
  }

  onClose(listener: (reason: string) => void): void {
    this.#closeListener = listener;
    if (this.#closeReason !== undefined) listener(this.#closeReason);
  }

  close(reason: string): void {
    if (!this.isOpen) return;
    const { webSocket, clock } = this.#options;
    this.#sender.flush();
    webSocket.close(NORMAL, cutToBytes(reason, MAX_REASON_BYTES));
    const timer = clock.setTimer(CLOSE_GRACE_MS, () => webSocket.terminate());
    webSocket.once('close', () => timer.cancel());
    this.#end(reason);
  }

  /** Sends data. All data of one turn goes to the socket as one piece. */
  #write(data: string | Buffer): void {
    const { webSocket, socket, clock } = this.#options;
    if (!this.#isCorked) {
      this.#isCorked = true;
      socket.cork();
      clock.nextTurn(() => {
        this.#isCorked = false;
        socket.uncork();
      });
    }
    webSocket.send(data, ignore);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (!this.isOpen) return;
    const frame = decodeFrame(data, isBinary, this.#options.mostCallBytes);
    if (typeof frame === 'string') this.#fail(frame);
    else if (this.#frameListener === undefined) this.#inbox.push(frame);
    else this.#frameListener(frame);
  }

  /** Closes at once; messages that still wait are lost. */
  #fail(reason: string): void {
    const { webSocket } = this.#options;
    webSocket.close(POLICY_VIOLATION, cutToBytes(reason, MAX_REASON_BYTES));
    this.#end(reason);
    webSocket.terminate();
  }

  #end(reason: string): void {
    if (!this.isOpen) return;
    this.#closeReason = reason;
    this.#tick?.cancel();
    this.#sender.clear();
    this.#inbox = [];
    this.#closeListener?.(reason);
  }

  #tickLater(): void {
    this.#tick = this.#options.clock.setTimer(TICK_MS, () => {
      this.#look();
      if (this.isOpen) this.#tickLater();
    });
  }

  #look(): void {
    const { webSocket, socket, silenceMs, peer } = this.#options;
    this.#silentTicks = socket.bytesRead === this.#bytesRead ? this.#silentTicks + 1 : 0;
    this.#bytesRead = socket.bytesRead;
    if (this.#silentTicks * TICK_MS >= silenceMs) {
      this.#fail(`nothing was heard of ${peer} for ${silenceMs / 1000} s`);
      return;
    }
    this.#ticks++;
    if (this.#ticks % PING_EVERY_TICKS === 0) webSocket.ping(undefined, undefined, ignore);
  }
}

/** Takes the result of a send. A failed send is ignored, because the end of the connection tells of it. */
function ignore(): void {}
