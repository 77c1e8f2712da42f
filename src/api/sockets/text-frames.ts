/**
 * Encodes WebSocket text frames as a server sends them: final, unmasked, not compressed (RFC 6455). Many frames share
 * one buffer, so that text for many clients is encoded once.
 */

const FINAL_TEXT = 0x81;
const SHORT_MAX = 125;
const MEDIUM_MAX = 0xffff;
const MEDIUM = 126;
const LONG = 127;

/** Encodes one frame for each text, in order. Half surrogate pairs become U+FFFD, as everywhere in Node. */
export function encodeTextFrames(texts: readonly string[]): Buffer {
  const sizes = texts.map((text) => Buffer.byteLength(text));
  const frames = Buffer.allocUnsafeSlow(sizes.reduce((sum, size) => sum + headSize(size) + size, 0));
  let at = 0;
  texts.forEach((text, index) => {
    at = writeHead(frames, at, sizes[index] ?? 0);
    at += frames.write(text, at);
  });
  return frames;
}

function headSize(size: number): number {
  if (size <= SHORT_MAX) return 2;
  return size <= MEDIUM_MAX ? 4 : 10;
}

/** Writes the head of a frame. Returns where the payload begins. */
function writeHead(frames: Buffer, at: number, size: number): number {
  frames[at] = FINAL_TEXT;
  if (size <= SHORT_MAX) {
    frames[at + 1] = size;
    return at + 2;
  }
  if (size <= MEDIUM_MAX) {
    frames[at + 1] = MEDIUM;
    return frames.writeUInt16BE(size, at + 2);
  }
  frames[at + 1] = LONG;
  return frames.writeBigUInt64BE(BigInt(size), at + 2);
}
