/** Makes WebSocket frames byte by byte, for tests of frames that no library would send. The mask is zero. */

interface FrameOptions {
  /** Default true. */
  readonly isFinal?: boolean;
  /** The opcode: 0 continuation, 1 text, 2 binary, 8 close, 9 ping, 10 pong. Default 1. */
  readonly opcode?: number;
  /** Default true. */
  readonly isMasked?: boolean;
  /** The bits of the first byte that only extensions may use. */
  readonly reserved?: number;
  /** The length in the header. Default: the length of the payload. */
  readonly length?: number;
}

export function frame(payload: string | Buffer = '', options: FrameOptions = {}): Buffer {
  const { isFinal = true, opcode = 1, isMasked = true, reserved = 0 } = options;
  const bytes = Buffer.from(payload);
  const length = options.length ?? bytes.length;
  const first = (isFinal ? 0x80 : 0) | reserved | opcode;
  const mask = isMasked ? Buffer.alloc(4) : Buffer.alloc(0);
  return Buffer.concat([Buffer.from([first]), lengthBytes(length, isMasked ? 0x80 : 0), mask, bytes]);
}

function lengthBytes(length: number, maskBit: number): Buffer {
  if (length < 126) return Buffer.from([maskBit | length]);
  if (length < 65_536) {
    const short = Buffer.from([maskBit | 126, 0, 0]);
    short.writeUInt16BE(length, 1);
    return short;
  }
  const long = Buffer.alloc(9);
  long[0] = maskBit | 127;
  long.writeBigUInt64BE(BigInt(length), 1);
  return long;
}

/** The code of the close frame at the end of a server's bytes; undefined when there is no such frame. */
export function closeCodeIn(bytes: Buffer): number | undefined {
  for (let at = 0; at + 2 <= bytes.length; ) {
    const [opcode, size] = [(bytes[at] ?? 0) & 0x0f, bytes[at + 1] ?? 0];
    const head = size === 127 ? 10 : size === 126 ? 4 : 2;
    if (at + head > bytes.length) return undefined;
    const length =
      size === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : size === 126 ? bytes.readUInt16BE(at + 2) : size;
    if (opcode === 8) return length >= 2 ? bytes.readUInt16BE(at + head) : 1005;
    at += head + length;
  }
  return undefined;
}
