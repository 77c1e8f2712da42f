/** Frames on the wire: each is decoded as it was encoded, and anything else is refused with a reason. */
import { describe, expect, it } from 'vitest';
import { decodeFrame, encodeFrame } from '../../../src/channel/protocol/frame-codec.js';
import type { Message } from '../../../src/channel/protocol/messages.js';

const CHUNK: Message = { type: 'chunk', id: 7 };

function roundTrip(message: Message, body?: Buffer): unknown {
  const encoded = encodeFrame(message, body);
  return decodeFrame(Buffer.from(encoded), typeof encoded !== 'string');
}

describe('the frame codec', () => {
  it.each([
    [{ type: 'beat' } as const, undefined],
    [{ type: 'failure', id: 1, code: 'DRV_INTERNAL', message: 'ünïcode \u{1F980}' } as const, undefined],
    [CHUNK, Buffer.from([0, 1, 2, 255])],
    [CHUNK, Buffer.alloc(0)],
    [
      { type: 'call', id: 1, service: 'write-stdin', parameters: { id: 'é' } } as const,
      Buffer.alloc(100_000, 7),
    ],
  ])('brings %o back', (message, body) => {
    expect(roundTrip(message, body)).toEqual(body === undefined ? { message } : { message, body });
  });

  it.each([
    ['', false],
    ['{', false],
    ['null', false],
    ['{"type":"nothing"}', false],
    ['{"type":"beat"}', true],
    ['\0\0', true],
    ['\0\0\0\0', true],
    ['\xff\xff\xff\xff{}', true],
  ])('refuses %j', (text, isBinary) => {
    expect(decodeFrame(Buffer.from(text, 'latin1'), isBinary)).toMatch(/^malformed message: ./);
  });
});
