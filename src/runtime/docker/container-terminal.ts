/**
 * One terminal that is attached to a container. The container has no terminal of its own (see container-options.ts), so
 * there is no size. The output is both streams, in the order of the log. A reader who falls too far behind is detached.
 */
import { Readable } from 'node:stream';
import { publicMessage } from '../../model/public-message.js';
import type { AttachEndReason, AttachEvent, Attachment } from '../../model/run/attachment.js';

const MOST_WAITING_BYTES = 1024 * 1024;
const PIECE_BYTES = 32 * 1024;

export class ContainerTerminal implements Attachment {
  readonly isTransparent = true;
  readonly #write: (bytes: Buffer) => Promise<void>;
  readonly #onClosed: () => void;
  readonly #waiting = new Readable({ objectMode: true, read: () => undefined });
  #waitingBytes = 0;
  #hasEnded = false;

  /**
   * `first`: the end of the log. `write`: throws when standard input refuses the bytes. `onClosed`: called once, when
   * the terminal has ended or was closed.
   */
  constructor(first: Buffer, write: (bytes: Buffer) => Promise<void>, onClosed: () => void) {
    this.#write = write;
    this.#onClosed = onClosed;
    if (first.length > 0) this.show(first);
  }

  /** Passes on new output, cut into pieces: a large message would be refused on its way to the client. */
  show(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      this.#push({ kind: 'output', bytes: bytes.subarray(at, at + PIECE_BYTES) });
  }

  async *events(): AsyncGenerator<AttachEvent> {
    const waiting: AsyncIterable<AttachEvent> = this.#waiting;
    for await (const event of waiting) {
      this.#waitingBytes -= sizeOf(event);
      yield event;
      if (event.kind === 'ended') return;
    }
  }

  async write(bytes: Buffer): Promise<void> {
    try {
      await this.#write(bytes);
    } catch (error) {
      this.#push({ kind: 'refused', message: publicMessage(error) });
    }
  }

  resize(): void {}

  close(): void {
    this.end('lost', 'the terminal was closed');
  }

  /** Ends the terminal with a last message, after all output. Idempotent. */
  end(reason: AttachEndReason, message: string): void {
    if (this.#hasEnded) return;
    this.#push({ kind: 'ended', reason, message });
    this.#hasEnded = true;
    this.#onClosed();
  }

  #push(event: AttachEvent): void {
    if (this.#hasEnded) return;
    this.#waiting.push(event);
    this.#waitingBytes += sizeOf(event);
    if (this.#waitingBytes > MOST_WAITING_BYTES && event.kind !== 'ended')
      this.end('too-slow', 'detached: more than 1 MiB of output waited to be read');
  }
}

/**
 * The bytes of an event. Messages of refusals count too, so that a client that types and never reads cannot fill the
 * memory.
 */
function sizeOf(event: AttachEvent): number {
  return event.kind === 'output' ? event.bytes.length : event.message.length;
}
