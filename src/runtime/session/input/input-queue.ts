/**
 * Bytes for a session's program: bounded, in order, one write at a time. There are two kinds: bytes that Drover sends,
 * and bytes that people type. Waiting bytes of the same kind are sent together.
 */
import { STDIN_QUEUE_BYTES } from '../../process/stdin-queue.js';
import { InputFull } from '../session-tool.js';

interface Waiting {
  readonly isTyped: boolean;
  readonly bytes: Buffer;
  readonly resolve: (isTaken: boolean) => void;
  readonly reject: (error: unknown) => void;
}

export class InputQueue {
  readonly #send: (bytes: Buffer, isTyped: boolean) => Promise<void>;
  readonly #waiting: Waiting[] = [];
  #waitingBytes = 0;
  #isSending = false;

  constructor(send: (bytes: Buffer, isTyped: boolean) => Promise<void>) {
    this.#send = send;
  }

  /**
   * Resolves with true when the bytes are sent, with false when too many bytes wait already, here or at the tool.
   * Throws other failures.
   */
  async push(bytes: Buffer, isTyped = false): Promise<boolean> {
    if (this.#waitingBytes + bytes.length > STDIN_QUEUE_BYTES) return false;
    this.#waitingBytes += bytes.length;
    const sent = new Promise<boolean>((resolve, reject) => {
      this.#waiting.push({ bytes, isTyped, resolve, reject });
    });
    if (!this.#isSending) void this.#sendAll();
    return sent;
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const isTyped = this.#waiting[0]?.isTyped === true;
      const border = this.#waiting.findIndex((waiting) => waiting.isTyped !== isTyped);
      const batch = this.#waiting.splice(0, border < 0 ? this.#waiting.length : border);
      try {
        await this.#send(Buffer.concat(batch.map(({ bytes }) => bytes)), isTyped);
        for (const { resolve } of batch) resolve(true);
      } catch (error) {
        for (const { resolve, reject } of batch) error instanceof InputFull ? resolve(false) : reject(error);
      }
      for (const { bytes } of batch) this.#waitingBytes -= bytes.length;
    }
    this.#isSending = false;
  }
}
