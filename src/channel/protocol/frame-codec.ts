/**
 * Encodes one frame of the channel as one WebSocket message. A text message is a frame without a body. A binary one
 * holds the length of the JSON in four bytes, the JSON, and the body.
 */
import { messageOf } from '../../model/errors.js';
import { problemOf } from '../../model/public-message.js';
import { type Frame, type Message, messageSchema } from './messages.js';

const HEADER_BYTES = 4;

/** Answers a string for a text message, bytes for a binary one. */
export function encodeFrame(message: Message, body?: Buffer): string | Buffer {
  const text = JSON.stringify(message);
  if (body === undefined) return text;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([header, Buffer.from(text), body]);
}

/** The frame, or the reason why it is not one. */
export function decodeFrame(data: Buffer, isBinary: boolean): Frame | string {
  if (!isBinary) return read(data.toString('utf8'), undefined);
  const end = data.length < HEADER_BYTES ? Number.NaN : HEADER_BYTES + data.readUInt32BE();
  if (!(end <= data.length)) return 'malformed message: it is shorter than it says';
  return read(data.toString('utf8', HEADER_BYTES, end), data.subarray(end));
}

function read(text: string, body: Buffer | undefined): Frame | string {
  try {
    const parsed = messageSchema.safeParse(JSON.parse(text));
    if (!parsed.success) return `malformed message: ${problemOf(parsed.error)}`;
    return body === undefined ? { message: parsed.data } : { message: parsed.data, body };
  } catch (error) {
    return `malformed message: ${messageOf(error)}`;
  }
}
