/**
 * Encodes a frame of the channel as a WebSocket message. A text message is a frame without a body. A binary message
 * holds the length of the JSON in four bytes, the JSON, and the body.
 */
import { messageOf } from '../../model/errors.js';
import { problemOf } from '../../model/public-message.js';
import { type Frame, type Message, messageSchema } from './messages.js';

const HEADER_BYTES = 4;
const MB = 1024 * 1024;
/** The limit for the bytes after the JSON: far more than a piece of any stream, or a line for standard input. */
const MOST_BODY_BYTES = 2 * MB;
/** The limit for the JSON of a message that is not named below. */
const MOST_TEXT_BYTES = MB / 2;
/** The limit for a call between masters. A configuration is 1 MiB at most; as a string inside JSON it grows. */
export const MOST_QUESTION_BYTES = 4 * MB;
/** The limits by type of message. Feeds and answers may be as large as the WebSocket takes. */
const MOST_TEXT_BYTES_OF: Readonly<Partial<Record<Message['type'], number>>> = {
  hello: 8 * MB,
  status: 8 * MB,
  offer: 8 * MB,
  usage: 8 * MB,
  snapshot: Number.POSITIVE_INFINITY,
  delta: Number.POSITIVE_INFINITY,
  result: Number.POSITIVE_INFINITY,
};
/** The beginning of each message as `encodeFrame` writes it. */
const TYPE = /^\{"type":"([a-z-]{1,32})"/;
const TYPE_BYTES = 64;

/** The text of a message, or the bytes of a message with a body. */
export function encodeFrame(message: Message, body?: Buffer): string | Buffer {
  const text = JSON.stringify(message);
  if (body === undefined) return text;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([header, Buffer.from(text), body]);
}

/** The frame, or the reason why the bytes are not a frame. `mostCallBytes`: the limit for the JSON of a call. */
export function decodeFrame(data: Buffer, isBinary: boolean, mostCallBytes?: number): Frame | string {
  if (!isBinary) return read(data, undefined, mostCallBytes);
  const end = data.length < HEADER_BYTES ? Number.NaN : HEADER_BYTES + data.readUInt32BE();
  if (!(end <= data.length)) return 'malformed message: it is shorter than it says';
  if (data.length - end > MOST_BODY_BYTES)
    return `malformed message: ${data.length - end} bytes beside it are too many`;
  return read(data.subarray(HEADER_BYTES, end), data.subarray(end), mostCallBytes);
}

function read(text: Buffer, body: Buffer | undefined, mostCallBytes: number | undefined): Frame | string {
  try {
    // The length is checked twice: before parsing by the type that the text begins with, afterwards by the parsed type.
    const said = isLong(text) ? TYPE.exec(text.toString('latin1', 0, TYPE_BYTES))?.[1] : undefined;
    if (isTooLong(text, said, mostCallBytes)) return tooLong(text, said);
    const parsed = messageSchema.safeParse(JSON.parse(text.toString('utf8')));
    if (!parsed.success) return `malformed message: ${problemOf(parsed.error)}`;
    if (isTooLong(text, parsed.data.type, mostCallBytes)) return tooLong(text, parsed.data.type);
    return body === undefined ? { message: parsed.data } : { message: parsed.data, body };
  } catch (error) {
    return `malformed message: ${messageOf(error)}`;
  }
}

function isLong(text: Buffer): boolean {
  return text.length > MOST_TEXT_BYTES;
}

function isTooLong(text: Buffer, type: string | undefined, call = MOST_TEXT_BYTES): boolean {
  if (!isLong(text)) return false;
  const limits: Readonly<Record<string, number>> = { ...MOST_TEXT_BYTES_OF, call };
  const most = type !== undefined && Object.hasOwn(limits, type) ? limits[type] : undefined;
  return text.length > (most ?? MOST_TEXT_BYTES);
}

function tooLong(text: Buffer, type: string | undefined): string {
  return `malformed message: ${text.length} bytes are too many for ${type ?? 'a message without a type'}`;
}
