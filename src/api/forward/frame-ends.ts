/**
 * Follows the frames of a WebSocket server (RFC 6455: not masked) through pieces of any size. It tells when one frame
 * has ended and the next has not begun, because only there may another frame be written.
 */

const CLOSE = 0x8;
const MEDIUM = 126;
const LONG = 127;
const LONGEST_HEAD = 10;

export class FrameEnds {
  readonly #head = Buffer.alloc(LONGEST_HEAD);
  #headBytes = 0;
  /** How many bytes of the present frame's payload are still to come. */
  #left = 0;
  #isClosed = false;

  /** True when every begun frame has ended. */
  get isBetween(): boolean {
    return this.#headBytes === 0 && this.#left === 0;
  }

  /** True when the server has sent a close frame. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  take(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#left > 0) {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        at += taken;
      } else {
        this.#head[this.#headBytes++] = bytes[at++] ?? 0;
        if (this.#headBytes === this.#headSize()) this.#begin();
      }
    }
  }

  #headSize(): number {
    if (this.#headBytes < 2) return LONGEST_HEAD;
    const size = this.#head.readUInt8(1);
    if (size === LONG) return LONGEST_HEAD;
    return size === MEDIUM ? 4 : 2;
  }

  #begin(): void {
    const size = this.#head.readUInt8(1);
    if ((this.#head.readUInt8(0) & 0x0f) === CLOSE) this.#isClosed = true;
    if (size === LONG) this.#left = Number(this.#head.readBigUInt64BE(2));
    else this.#left = size === MEDIUM ? this.#head.readUInt16BE(2) : size;
    this.#headBytes = 0;
  }
}

/** A close frame. `reason`: at most 123 bytes. */
export function closeFrame(code: number, reason: string): Buffer {
  const text = Buffer.from(reason);
  const frame = Buffer.alloc(4 + text.length);
  frame.writeUInt8(0x80 | CLOSE, 0);
  frame.writeUInt8(2 + text.length, 1);
  frame.writeUInt16BE(code, 2);
  text.copy(frame, 4);
  return frame;
}
