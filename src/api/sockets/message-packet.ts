/** JSON messages on their way to clients, as a WebSocket frame or as lines. */
import { encodeTextFrames } from './text-frames.js';

/** Messages that are encoded once in each form, for all clients that get them. */
export class MessagePacket {
  readonly #texts: readonly string[];
  #frame: Buffer | undefined;
  #lines: Buffer | undefined;

  /** `texts`: the messages, JSON without newlines. */
  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  /** A WebSocket frame with the array of messages. */
  get frame(): Buffer {
    this.#frame ??= encodeTextFrames([`[${this.#texts.join(',')}]`]);
    return this.#frame;
  }

  /** A line for each message. */
  get lines(): Buffer {
    this.#lines ??= Buffer.from(this.#texts.map((text) => `${text}\n`).join(''));
    return this.#lines;
  }
}
