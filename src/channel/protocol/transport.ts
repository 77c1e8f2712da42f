/**
 * A pipe of frames between a master and one wrapper, ordered, and reliable while it is open. The in-process pair serves
 * the master's own wrapper. It encodes and checks every frame as the network does, so that no code comes to depend on
 * shared memory.
 */
import { type AnswerLimit, decodeFrame, encodeFrame, MOST_QUESTION_BYTES } from './frame-codec.js';
import type { Frame, Message } from './messages.js';

export interface Transport {
  readonly isOpen: boolean;
  /** Queues the frame. After `close` the frame is dropped; `onClose` tells the sender of the end. */
  send(message: Message, body?: Buffer): void;
  /** Sets the only listener. Frames that came before are delivered to it first. */
  onFrame(listener: (frame: Frame) => void): void;
  /** Sets the only listener. It is called once, whichever side closed. */
  onClose(listener: (reason: string) => void): void;
  close(reason: string): void;
  /**
   * Sets the judge of answers: an answer that it does not know ends the connection, and is not parsed. Absent: the
   * transport reads nothing from outside this process.
   */
  judgeAnswers?(limit: AnswerLimit): void;
}

/** Two connected ends in one process. Delivery is asynchronous and in order. */
export function createInProcessPair(): [Transport, Transport] {
  const a = new InProcessEnd();
  const b = new InProcessEnd();
  a.connect(b);
  b.connect(a);
  return [a, b];
}

class InProcessEnd implements Transport {
  #peer: InProcessEnd | undefined;
  #inbox: (string | Buffer)[] = [];
  #isDraining = false;
  #isOpen = true;
  #closeReason: string | undefined;
  #answers: AnswerLimit | undefined;
  #frameListener: ((frame: Frame) => void) | undefined;
  #closeListener: ((reason: string) => void) | undefined;

  connect(peer: InProcessEnd): void {
    this.#peer = peer;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  send(message: Message, body?: Buffer): void {
    if (!this.#isOpen) return;
    this.#peer?.receive(encodeFrame(message, body));
  }

  receive(packet: string | Buffer): void {
    if (!this.#isOpen) return;
    this.#inbox.push(packet);
    this.#scheduleDrain();
  }

  onFrame(listener: (frame: Frame) => void): void {
    this.#frameListener = listener;
    this.#scheduleDrain();
  }

  onClose(listener: (reason: string) => void): void {
    this.#closeListener = listener;
    if (this.#closeReason !== undefined) listener(this.#closeReason);
  }

  judgeAnswers(limit: AnswerLimit): void {
    this.#answers = limit;
  }

  close(reason: string): void {
    if (!this.#isOpen) return;
    const peer = this.#peer;
    this.#end(reason);
    // The other side first reads the frames that were sent before the close, as on a socket.
    if (peer !== undefined) setImmediate(() => peer.#end(reason));
  }

  #end(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#inbox = [];
    this.#closeReason = reason;
    this.#closeListener?.(reason);
  }

  #scheduleDrain(): void {
    if (this.#isDraining || this.#frameListener === undefined || this.#inbox.length === 0) return;
    this.#isDraining = true;
    queueMicrotask(() => this.#drain());
  }

  #drain(): void {
    this.#isDraining = false;
    const packets = this.#inbox;
    this.#inbox = [];
    for (const packet of packets) {
      if (!this.#isOpen) return;
      const limits = { mostCallBytes: MOST_QUESTION_BYTES, answers: this.#answers };
      const frame = decodeFrame(Buffer.from(packet), typeof packet !== 'string', limits);
      if (typeof frame === 'string') {
        this.close(frame);
        return;
      }
      if (frame !== null) this.#frameListener?.(frame);
    }
  }
}
