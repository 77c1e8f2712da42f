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
/** The limit for the JSON of an answer, unless the question allows more. */
export const MOST_ANSWER_BYTES = MB / 2;
/** The limit for the answers that hold lines of logs or whole lists: as much as the WebSocket takes. */
export const MOST_LONG_ANSWER_BYTES = 16 * MB;
/** A message of at most so many bytes is parsed whatever it is. */
const SMALL_BYTES = 4096;
/** The limits by type of message. A feed may be as large as the WebSocket takes; an answer as its question allows. */
const MOST_TEXT_BYTES_OF: Readonly<Partial<Record<Message['type'], number>>> = {
  hello: 8 * MB,
  status: 8 * MB,
  offer: 8 * MB,
  usage: 8 * MB,
  result: Number.POSITIVE_INFINITY,
  chunk: SMALL_BYTES,
  end: SMALL_BYTES,
  cancel: SMALL_BYTES,
  credit: SMALL_BYTES,
  beat: SMALL_BYTES,
  bye: SMALL_BYTES,
  'status-acknowledged': SMALL_BYTES,
};
const ANSWERS: ReadonlySet<string> = new Set(['result', 'failure', 'chunk', 'end']);
/** The beginning of each message as `encodeFrame` writes it. */
const HEAD = /^\{"type":"([a-z-]{1,32})"(?:,"id":(\d{1,16})[,}])?/;
const HEAD_BYTES = 80;

/**
 * How many bytes of JSON the answer to a call may have. `cancelled`: nobody waits for it any more. Undefined: no such
 * call was made.
 */
export type AnswerLimit = (id: number) => number | 'cancelled' | undefined;

/** What one end takes from the other. */
interface FrameLimits {
  /** The limit for the JSON of a call. Default: half a MiB. */
  readonly mostCallBytes?: number | undefined;
  /** The limit for the JSON of a feed. Default: none. A master takes no feed from anybody. */
  readonly mostFeedBytes?: number | undefined;
  /** Absent: every answer is taken. */
  readonly answers?: AnswerLimit | undefined;
}

/** The text of a message, or the bytes of a message with a body. */
export function encodeFrame(message: Message, body?: Buffer): string | Buffer {
  const text = JSON.stringify(message);
  if (body === undefined) return text;
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([header, Buffer.from(text), body]);
}

/**
 * The frame, or the reason why the bytes are not a frame that is taken. Null: an answer to a cancelled call. Length,
 * type and call are looked at before anything is parsed.
 */
export function decodeFrame(
  data: Buffer,
  isBinary: boolean,
  limits: FrameLimits = {},
): Frame | string | null {
  if (!isBinary) return read(data, undefined, limits);
  const end = data.length < HEADER_BYTES ? Number.NaN : HEADER_BYTES + data.readUInt32BE();
  if (!(end <= data.length)) return 'malformed message: it is shorter than it says';
  if (data.length - end > MOST_BODY_BYTES)
    return `malformed message: ${data.length - end} bytes beside it are too many`;
  return read(data.subarray(HEADER_BYTES, end), data.subarray(end), limits);
}

function read(text: Buffer, body: Buffer | undefined, limits: FrameLimits): Frame | string | null {
  try {
    // The length is checked twice: before parsing by the type that the text begins with, afterwards by the parsed type.
    const [, said, id] = HEAD.exec(text.toString('latin1', 0, HEAD_BYTES)) ?? [];
    if (isTooLong(text, said, limits)) return tooLong(text, said);
    if (limits.answers !== undefined && said !== undefined && ANSWERS.has(said)) {
      const most = limits.answers(Number(id));
      if (most === 'cancelled') return null;
      if (most === undefined) return `${said} of a call that was not made`;
      if (text.length > most) return tooLong(text, said);
    }
    const parsed = messageSchema.safeParse(JSON.parse(text.toString('utf8')));
    if (!parsed.success) return `malformed message: ${problemOf(parsed.error)}`;
    if (isTooLong(text, parsed.data.type, limits)) return tooLong(text, parsed.data.type);
    return body === undefined ? { message: parsed.data } : { message: parsed.data, body };
  } catch (error) {
    return `malformed message: ${messageOf(error)}`;
  }
}

function isTooLong(
  text: Buffer,
  type: string | undefined,
  { mostCallBytes: call = MOST_TEXT_BYTES, mostFeedBytes: feed = Number.POSITIVE_INFINITY }: FrameLimits,
): boolean {
  if (text.length <= SMALL_BYTES) return false;
  if (type === undefined) return true;
  const limits: Readonly<Record<string, number>> = {
    ...MOST_TEXT_BYTES_OF,
    call,
    snapshot: feed,
    delta: feed,
  };
  const most = Object.hasOwn(limits, type) ? limits[type] : undefined;
  return text.length > (most ?? MOST_TEXT_BYTES);
}

function tooLong(text: Buffer, type: string | undefined): string {
  return `malformed message: ${text.length} bytes are too many for ${type ?? 'a message without a type'}`;
}
